package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/certs"
)

func validOptions() Options {
	return Options{Dir: "/c", Node: Simulated, Nodes: 1, PodCIDR: DefaultPodCIDR, ServiceCIDR: DefaultServiceCIDR}
}

func TestOptionsCheck(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"the defaults", func(*Options) {}, ""},
		{"many simulated nodes", func(o *Options) { o.Nodes = 50 }, ""},
		{"a real node", func(o *Options) { o.Node = Real }, ""},
		{"no node", func(o *Options) { o.Nodes = 0 }, "--nodes"},
		{"two real nodes", func(o *Options) { o.Node, o.Nodes = Real, 2 }, "--nodes"},
		{"another kind", func(o *Options) { o.Node = "virtual" }, "--node"},
		{"no network", func(o *Options) { o.PodCIDR = "10.85" }, "--pod-cidr"},
		{"an address in a network", func(o *Options) { o.PodCIDR = "10.85.0.1/16" }, "--pod-cidr"},
		{"too small a network", func(o *Options) { o.ServiceCIDR = "10.96.0.0/30" }, "--service-cidr"},
		{"version 6", func(o *Options) { o.ServiceCIDR = "fd00::/64" }, "--service-cidr"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := validOptions()
			test.change(&o)
			err := o.Check()
			if (test.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestFreePortsAreDifferentAndInRange(t *testing.T) {
	ports, err := freePorts(loopback, 20)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ports)
	if got := len(slices.Compact(slices.Clone(ports))); got != 20 {
		t.Errorf("%d different ports, want 20", got)
	}
	if ports[0] < lowestPort || ports[19] > highestPort {
		t.Errorf("ports are %v", ports)
	}
}

func TestALockReportsWhetherItsHolderLives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "lock")
	if locked, err := isLocked(path); err != nil || locked {
		t.Fatalf("before: %v, %v", locked, err)
	}
	lock, err := acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acquire(path); !errors.Is(err, errLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if locked, err := isLocked(path); err != nil || !locked {
		t.Errorf("while held: %v, %v", locked, err)
	}
	lock.release()
	if locked, err := isLocked(path); err != nil || locked {
		t.Errorf("afterwards: %v, %v", locked, err)
	}
}

func TestFollow(t *testing.T) {
	tests := []struct {
		name, events, out, err string
	}{
		{"ready", `{"kind":"step","text":"one"}` + "\n" + `{"kind":"ready"}` + "\n", "one\n", ""},
		{"failed", `{"kind":"failed","text":"etcd ended:\nno space"}` + "\n", "", "no space"},
		{"killed", `{"kind":"step","text":"one"}` + "\n", "one\n", "before the cluster was ready"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			err := follow(strings.NewReader(test.events), &out)
			if (test.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if out.String() != test.out {
				t.Errorf("showed %q, want %q", out.String(), test.out)
			}
		})
	}
}

func TestPollReportsCauseAndLastError(t *testing.T) {
	cause, last := errors.New("etcd ended"), errors.New("connection refused")
	ctx, cancel := context.WithCancelCause(context.Background())
	err := poll(ctx, "the API server", func(context.Context) error {
		cancel(cause)
		return last
	})
	if !errors.Is(err, cause) || !errors.Is(err, last) || !strings.Contains(err.Error(), "the API server") {
		t.Errorf("got %v", err)
	}
}

func TestAPlanKeepsEverythingOnLoopback(t *testing.T) {
	o := validOptions()
	o.Dir = t.TempDir()
	l := Layout{o.Dir}
	if err := l.make(); err != nil {
		t.Fatal(err)
	}
	p, err := newPlan(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []struct{ args []string }{
		{p.etcd().Args}, {p.apiServer().Args}, {p.controllerManager().Args}, {p.scheduler().Args}, {p.skipper().Args}, {p.kwok().Args},
	} {
		for _, arg := range spec.args {
			if strings.Contains(arg, "0.0.0.0") {
				t.Errorf("listens everywhere: %s", arg)
			}
			// Every file that is named must have been written.
			if _, path, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(path, o.Dir) && path != l.data() {
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if data, err := os.ReadFile(l.Kubeconfig()); err != nil || !bytes.Contains(data, []byte("user: "+certs.Admin)) {
		t.Errorf("kubeconfig: %v\n%s", err, data)
	}
}

func TestStateSurvivesItsFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadState(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	want := State{Node: Simulated, Nodes: 2, Ingress: "http://127.0.0.1:1", Started: time.Now().UTC().Round(time.Second)}
	if err := want.save(Layout{dir}.State()); err != nil {
		t.Fatal(err)
	}
	got, err := LoadState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.Ingress != want.Ingress || got.Nodes != 2 || !got.Started.Equal(want.Started) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
