package cmd

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// TestTheManagerRefusesBadFlags before it connects to a cluster: there is none.
func TestTheManagerRefusesBadFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Chdir(filepath.Join("..", "..")) // where watches.yaml and the chart are
	for _, name := range []string{"DARKROOM_BASE_DOMAIN", "DARKROOM_INGRESS_CLASS", "DARKROOM_INGRESS_ANNOTATIONS", envImage, envWatchNamespace} {
		t.Setenv(name, "")
	}
	for flag, want := range map[string]string{
		"--base-domain=my_domain":            `base domain "my_domain": must be a DNS name such as darkroom.example.com`,
		"--ingress-class=Public!":            `ingress class "Public!": must be the name of an IngressClass`,
		"--ingress-annotations=a b":          `allowed annotation "a b": must be the key of an annotation`,
		"--ingress-annotations=helm.sh/hook": `allowed annotation "helm.sh/hook": cannot be allowed`,
		"--log-level=loud":                   "--log-level=loud: must be debug, info or error",
		"--max-concurrent-reconciles=0":      "--max-concurrent-reconciles=0: must be at least 1",
		"--max-history=-1":                   "--max-history=-1: must not be negative; 0 keeps all",
		"--probe-via=ingress":                "--probe-via=ingress: must be service, apiserver or off",
		"--reconcile-period=-5s":             "--reconcile-period=-5s: must not be negative; 0 means never",
		"--selector=shard=(":                 "--selector=shard=(: must be a label selector such as shard=a",
		"--url-scheme=ftp":                   `--url-scheme and --url-port: scheme "ftp": must be http or https`,
		"--url-port=70000":                   "--url-scheme and --url-port: port 70000: must be between 1 and 65535",
		"--watch-namespaces=cats,Dogs":       `--watch-namespaces: invalid namespace "Dogs"`,
		"--watches-file=none.yaml":           "--watches-file=none.yaml: could not open",
		"--watches-file=README.md":           "read README.md:",
		"--reconcile-period=often":           `invalid argument "often" for "--reconcile-period"`,
		"--nonsense":                         "unknown flag: --nonsense",
	} {
		root := newRoot()
		root.SetArgs([]string{"manager", flag})
		err := root.ExecuteContext(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got error %v, want one that begins with %s", flag, err, want)
		}
	}
}

// A container with a wrong argument must fail, and not print the help and succeed.
func TestUnknownCommandsAreErrors(t *testing.T) {
	root := newRoot()
	root.SetArgs([]string{"templat"})
	root.SetOut(io.Discard)
	const want = `unknown command "templat" for "darkroom-operator"`
	if err := root.ExecuteContext(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got error %v, want one that begins with %s", err, want)
	}
}

func TestAKubeconfigThatIsMissingIsNamed(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	missing := filepath.Join(t.TempDir(), "none")
	t.Setenv("KUBECONFIG", missing)
	for _, command := range []string{"manager", "apiserver"} {
		root := newRoot()
		root.SetArgs([]string{command})
		if err := root.ExecuteContext(t.Context()); err == nil || err.Error() != "KUBECONFIG="+missing+": no such file" {
			t.Errorf("%s: got error %v", command, err)
		}
	}
}

// A lease that two installations share would leave one of them without a leader.
func TestEachInstallationAndShardHasItsOwnLease(t *testing.T) {
	shard, err := labels.Parse("shard=a")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, installation := range []string{defaultInstallation(), "first", "second", "Not_a.DNS.name"} {
		for _, darkrooms := range []labels.Selector{labels.Everything(), shard} {
			id := leaderElectionID(installation, darkrooms)
			if seen[id] || len(validation.IsDNS1123Subdomain(id)) > 0 {
				t.Errorf("installation %s, shard %s: %s", installation, darkrooms, id)
			}
			seen[id] = true
		}
	}
	if plain := "darkroom-operator.deployments.example.com"; leaderElectionID(defaultInstallation(), labels.Everything()) != plain {
		t.Errorf("the lease of the default installation is not %s, which docs/install.md deletes", plain)
	}
}
