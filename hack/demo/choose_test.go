// Package demo tests how hack/demo.sh chooses its node. It starts no cluster: kind, the
// container engines, the package managers and bin/cluster are fakes that record their calls.
package demo

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// situation is a machine on which the demonstration is started.
type situation struct {
	// node is NODE; empty means that it is not set.
	node string
	// tools are programs that are installed besides those of any machine.
	tools []string
	// running are the container engines that run.
	running []string
	// doctor is why `cluster doctor` refuses a real node; empty if it does not.
	doctor string
	// missing is what `cluster doctor --missing` prints. Installing it satisfies the doctor.
	missing string
	// broken makes package managers fail.
	broken bool
	// taken is why `cluster doctor --free` refuses.
	taken string
	// demo is the node of a demonstration that was started before, and stopped whether it
	// has been stopped without `make demo-stop`, such as by a restart of the machine.
	demo    string
	stopped bool
	user    bool
	macOS   bool
}

const (
	notRoot  = "a real node needs root; run this as root, or use simulated nodes (--node simulated)"
	noImage  = "No image will be served: the node is simulated and runs no container"
	noKind   = "kind: kind is not installed"
	noK3d    = "k3d: k3d is not installed"
	install  = "install kind or k3d, and start Docker (or Podman, for kind)"
	asRoot   = `sudo env "PATH=$PATH" make demo`
	lacking  = "a real node needs programs that are not installed; on Debian or Ubuntu:\n  apt-get update && apt-get install -y runc"
	inUse    = "a cluster with a real node runs on this machine, and there can be only one; stop it with: cluster down --dir /other"
	explains = "A real node runs containers with them. No service is started."
)

func TestTheNodeIsChosenByWhatTheMachineHas(t *testing.T) {
	tests := map[string]struct {
		situation
		want string
		// first is the first line that is printed; says are later ones.
		first string
		says  []string
		// calls are among the calls of tools, in this order; never are not.
		calls, never []string
	}{
		"kind with Docker": {
			situation: situation{tools: []string{"kind", "docker"}, running: []string{"docker"}},
			want:      "kind", first: "Node: kind, with docker", never: []string{"cluster doctor"},
		},
		"kind with Podman": {
			situation: situation{tools: []string{"kind", "docker", "podman"}, running: []string{"podman"}},
			want:      "kind", first: "Node: kind, with podman", calls: []string{"docker info", "podman info"},
		},
		"k3d with Docker": {
			situation: situation{tools: []string{"k3d", "docker"}, running: []string{"docker"}},
			want:      "k3d", first: "Node: k3d, with docker", never: []string{"cluster doctor"},
		},
		"kind before k3d": {
			situation: situation{tools: []string{"k3d", "kind", "docker"}, running: []string{"docker"}},
			want:      "kind", first: "Node: kind, with docker",
		},
		"k3d without Docker": {
			situation: situation{tools: []string{"k3d", "podman"}, running: []string{"podman"}},
			want:      "real", first: "Node: real, with containerd on this machine",
		},
		"kind without an engine": {
			situation: situation{tools: []string{"kind", "docker"}},
			want:      "real", first: "Node: real, with containerd on this machine", calls: []string{"cluster doctor --free"},
		},
		"an engine without kind": {
			situation: situation{tools: []string{"docker"}, running: []string{"docker"}},
			want:      "real", first: "Node: real, with containerd on this machine",
		},
		"packages are missing on Debian": {
			situation: situation{tools: []string{"apt-get"}, doctor: lacking, missing: "apt runc containernetworking-plugins"},
			want:      "real", first: "Installing with apt: runc containernetworking-plugins", says: []string{explains, "Node: real"},
			calls: []string{
				"apt-get update -qq",
				"apt-get install -y -qq --no-install-recommends runc containernetworking-plugins",
				"cluster doctor --free",
			},
		},
		"packages are missing on Fedora": {
			situation: situation{tools: []string{"dnf"}, doctor: lacking, missing: "dnf runc conntrack-tools"},
			want:      "real", first: "Installing with dnf: runc conntrack-tools", says: []string{explains},
			calls: []string{"dnf install -y -q runc conntrack-tools"},
		},
		"packages are missing on Alpine": {
			situation: situation{tools: []string{"apk"}, doctor: lacking, missing: "apk runc cni-plugins"},
			want:      "real", first: "Installing with apk: runc cni-plugins", says: []string{explains},
			calls: []string{"apk add --quiet --no-progress runc cni-plugins"},
		},
		"packages cannot be installed": {
			situation: situation{tools: []string{"apt-get"}, doctor: lacking, missing: "apt runc", broken: true},
			want:      "simulated", first: "Installing with apt: runc",
			says: []string{noImage, "real: apt could not install: runc", install},
		},
		"nothing is possible for an ordinary user": {
			situation: situation{doctor: notRoot, user: true, tools: []string{"apt-get"}},
			want:      "simulated", first: noImage, says: []string{noKind, noK3d, "real: " + notRoot, install, asRoot},
			never: []string{"apt-get"},
		},
		"nothing is possible in a container": {
			situation: situation{doctor: "a real node needs the capabilities NET_ADMIN; in a container: run it with --privileged"},
			want:      "simulated", first: noImage, says: []string{"run it with --privileged", install},
		},
		"another real node runs": {
			situation: situation{taken: inUse},
			want:      "simulated", first: noImage, says: []string{"real: " + inUse},
		},
		"nothing is possible on macOS": {
			situation: situation{doctor: "a real node needs Linux", macOS: true, user: true, tools: []string{"kind", "docker"}},
			want:      "simulated", first: noImage,
			says: []string{"kind: kind is installed, but neither Docker nor Podman is running", install},
		},
		"NODE=simulated": {
			situation: situation{node: "simulated", tools: []string{"kind", "docker"}, running: []string{"docker"}},
			want:      "simulated", first: noImage, never: []string{"docker info", "cluster doctor"},
		},
		"NODE=real where kind could run": {
			situation: situation{node: "real", tools: []string{"kind", "docker"}, running: []string{"docker"}},
			want:      "real", first: "Node: real", never: []string{"docker info"},
		},
		"NODE=k3d where kind could run": {
			situation: situation{node: "k3d", tools: []string{"kind", "k3d", "docker"}, running: []string{"docker"}},
			want:      "k3d", first: "Node: k3d",
		},
		"NODE=kind without kind": {
			situation: situation{node: "kind", tools: []string{"docker"}, running: []string{"docker"}},
			first:     "demo: NODE=kind is not possible here: kind is not installed", says: []string{install},
		},
		"NODE=k3d without Docker": {
			situation: situation{node: "k3d", tools: []string{"k3d"}},
			first:     "demo: NODE=k3d is not possible here: k3d is installed, but Docker is not running", says: []string{install},
		},
		"NODE=real without root": {
			situation: situation{node: "real", doctor: notRoot, user: true},
			first:     "demo: NODE=real is not possible here: " + notRoot, says: []string{asRoot},
		},
		"an unknown NODE": {
			situation: situation{node: "minikube"},
			first:     "demo: NODE must be auto, kind, k3d, real or simulated, not minikube",
		},
		"the demonstration runs already": {
			situation: situation{demo: "real", taken: inUse, tools: []string{"kind", "docker"}, running: []string{"docker"}},
			want:      "real", first: "The demo runs already, with NODE=real.", never: []string{"cluster doctor"},
		},
		"the demonstration runs with kind": {
			situation: situation{demo: "kind", tools: []string{"kind", "docker"}, running: []string{"docker"}},
			want:      "kind", first: "The demo runs already, with NODE=kind.",
		},
		"the demonstration runs with another node": {
			situation: situation{demo: "simulated", node: "real"},
			first:     "demo: the demo runs with NODE=simulated; stop it first: make demo-stop",
		},
		"the cluster of the demonstration has gone": {
			situation: situation{demo: "simulated", stopped: true},
			want:      "real", first: "Node: real",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node, output, calls := choose(t, test.situation)
			if node != test.want {
				t.Errorf("chose %q, want %q; output:\n%s", node, test.want, output)
			}
			if !strings.HasPrefix(output, test.first) {
				t.Errorf("the first line should be %q; output:\n%s", test.first, output)
			}
			for _, want := range test.says {
				if !strings.Contains(output, want) {
					t.Errorf("the output lacks %q:\n%s", want, output)
				}
			}
			rest := calls
			for _, want := range test.calls {
				at := slices.Index(rest, want)
				if at < 0 {
					t.Errorf("no call %q, in this order; calls:\n%s", want, strings.Join(calls, "\n"))
					break
				}
				rest = rest[at+1:]
			}
			for _, unwanted := range test.never {
				if slices.ContainsFunc(calls, func(call string) bool { return strings.HasPrefix(call, unwanted) }) {
					t.Errorf("there is a call %q; calls:\n%s", unwanted, strings.Join(calls, "\n"))
				}
			}
		})
	}
}

// ordinary are programs of the machine that the scripts use.
var ordinary = []string{"bash", "cat", "chmod", "dirname", "env", "grep", "rm", "sed", "timeout"}

// fakes are the tools, as scripts of the variable STATE, a folder: what is in it is how the
// machine is.
var fakes = map[string]string{
	"kind":    `[ "$1 $2" != "get clusters" ] || cat "$STATE/clusters"`,
	"k3d":     `exit 1`,
	"docker":  `test -e "$STATE/docker"`,
	"podman":  `test -e "$STATE/podman"`,
	"apt-get": `test ! -e "$STATE/broken" && { test "$1" != install || rm "$STATE/doctor"; }`,
	"dnf":     `test ! -e "$STATE/broken" && rm "$STATE/doctor"`,
	"apk":     `test ! -e "$STATE/broken" && rm "$STATE/doctor"`,
	"id":      `cat "$STATE/id"`,
	"uname":   `cat "$STATE/uname"`,
	"cluster": `
case "$1 $2" in
  "status --dir") test -e "$STATE/up" ;;
  "doctor --missing") test -e "$STATE/missing" && cat "$STATE/missing" ;;
  "doctor ") ! cat "$STATE/doctor" >&2 ;;
  "doctor --free") ! cat "$STATE/doctor" >&2 && ! cat "$STATE/taken" >&2 ;;
  *) exit 2 ;;
esac 2> "$STATE/complaint" || { code=$?; sed -n '/^error: \|^  /p' "$STATE/complaint" >&2; exit "$code"; }`,
}

// choose runs hack/demo.sh choose, and returns the node (empty if it failed), the output
// and the calls of the fakes.
func choose(t *testing.T, s situation) (node, output string, calls []string) {
	t.Helper()
	root := t.TempDir()
	state, path := filepath.Join(root, "state"), filepath.Join(root, "path")
	for _, script := range []string{"demo.sh", "install-packages.sh", "demo/choose.sh", "demo/nodes.sh"} {
		text, err := os.ReadFile(filepath.Join("..", script))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, "hack", script), string(text))
	}
	for _, program := range ordinary {
		file, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("this machine has no %s", program)
		}
		write(t, filepath.Join(path, program), "#!/bin/sh\nexec "+file+` "$@"`+"\n")
	}
	for _, tool := range append([]string{"id", "uname", "cluster"}, s.tools...) {
		file := filepath.Join(path, tool)
		if tool == "cluster" {
			file = filepath.Join(root, "bin", tool)
		}
		write(t, file, "#!/bin/sh\necho \""+tool+" $*\" >> \"$STATE/calls\"\n"+fakes[tool]+"\n")
	}
	s.describe(t, root, state)

	command := exec.Command(filepath.Join(root, "hack", "demo.sh"), "choose")
	command.Env = []string{"PATH=" + path, "STATE=" + state, "POLICY_RC_D=" + filepath.Join(state, "policy-rc.d")}
	if s.node != "" {
		command.Env = append(command.Env, "NODE="+s.node)
	}
	out, err := command.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if _, leftErr := os.Stat(filepath.Join(state, "policy-rc.d")); leftErr == nil {
		t.Error("policy-rc.d is left")
	}
	recorded, readErr := os.ReadFile(filepath.Join(state, "calls"))
	if readErr != nil && !errors.Is(readErr, os.ErrNotExist) {
		t.Fatal(readErr)
	}
	output = strings.TrimSpace(strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(string(out)))
	if err == nil {
		node = output[strings.LastIndex(output, "\n")+1:]
	}
	return node, output, strings.Split(strings.TrimSpace(string(recorded)), "\n")
}

// describe writes the situation down for the fakes.
func (s situation) describe(t *testing.T, root, state string) {
	t.Helper()
	id, system, clusters := "0", "Linux", ""
	if s.user {
		id = "1000"
	}
	if s.macOS {
		system = "Darwin"
	}
	if s.demo == "kind" {
		clusters = "darkroom-demo"
	}
	write(t, filepath.Join(state, "id"), id+"\n")
	write(t, filepath.Join(state, "uname"), system+"\n")
	write(t, filepath.Join(state, "clusters"), clusters+"\n")
	for name, text := range map[string]string{"doctor": s.doctor, "taken": s.taken} {
		if text != "" {
			write(t, filepath.Join(state, name), "error: "+text+"\n")
		}
	}
	if s.missing != "" {
		write(t, filepath.Join(state, "missing"), s.missing+"\n")
	}
	if s.broken {
		write(t, filepath.Join(state, "broken"), "")
	}
	for _, engine := range s.running {
		write(t, filepath.Join(state, engine), "")
	}
	if s.demo != "" {
		write(t, filepath.Join(root, ".demo", "node"), s.demo+"\n")
		if !s.stopped {
			write(t, filepath.Join(state, "up"), "")
		}
	}
}

// write writes a file that can be run.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
