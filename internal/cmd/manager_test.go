package cmd

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// TestBadCommandLinesAreRefused checks that a command fails before it connects to a cluster. There is no cluster here.
// A command line may begin with environment variables.
func TestBadCommandLinesAreRefused(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	t.Chdir(filepath.Join("..", "..")) // the folder of watches.yaml and the chart
	for _, name := range []string{
		"DARKROOM_BASE_DOMAIN", "DARKROOM_INGRESS_CLASS", "DARKROOM_INGRESS_ANNOTATIONS",
		envImage, envWatchNamespace,
	} {
		t.Setenv(name, "")
	}
	t.Setenv("KUBECONFIG", missing)
	for line, want := range map[string]string{
		"manager":                         "KUBECONFIG=" + missing + ": no such file",
		"manager --base-domain=my_domain": `base domain "my_domain": must be a DNS name such as darkroom.example.com`,
		"manager --base-domain=a.b,img.{namespace}.example.com": `base domain "img.{namespace}.example.com": must be a DNS name`,
		"manager --base-domain=":                                `base domains: at least one is required`,
		"manager --ingress-class=Public!":                       `ingress class "Public!": must be the name of an IngressClass`,
		"manager --ingress-annotations=a!b":                     `allowed annotation "a!b": must be a key such as example.com/team`,
		"manager --ingress-annotations=helm.sh/hook":            `allowed annotation "helm.sh/hook": cannot be allowed`,
		"manager --log-level=loud":                              "--log-level=loud: must be debug, info or error",
		"manager --max-concurrent-reconciles=0":                 "--max-concurrent-reconciles=0: must be at least 1",
		"manager --max-concurrent-rollouts=-1": "--max-concurrent-rollouts=-1: must not be " +
			"negative; 0 means no limit",
		"manager --max-history=-1":       "--max-history=-1: must not be negative; 0 keeps all",
		"manager --probe-via=ingress":    "--probe-via=ingress: must be service, apiserver or off",
		"manager --reconcile-period=-5s": "--reconcile-period=-5s: must not be negative; 0 disables the resync",
		"manager --selector=shard=(":     "--selector=shard=(: must be a label selector such as shard=a",
		"manager --reserved-hosts=*":     `reserved host "*": must be a host such as www.example.com`,
		"manager --inherit-labels=*":     `inherited label "*": name the keys`,
		"manager --leader-elect-renew-deadline=2m": "--leader-elect-lease-duration=1m0s: must be more than " +
			"--leader-elect-renew-deadline=2m0s",
		"manager --url-scheme=ftp":              `--url-scheme and --url-port: scheme "ftp": must be http or https`,
		"manager --url-port=70000":              "--url-scheme and --url-port: port 70000: must be between 1 and 65535",
		"manager --watch-namespaces=cats,Dogs":  `--watch-namespaces: invalid namespace "Dogs"`,
		"manager --watches-file=none.yaml":      "--watches-file=none.yaml: could not open",
		"manager --watches-file=README.md":      "read README.md:",
		"manager --reconcile-period=often":      `invalid argument "often" for "--reconcile-period"`,
		"manager --nonsense":                    "unknown flag: --nonsense",
		"DARKROOM_MAX_HISTORY=many manager":     "DARKROOM_MAX_HISTORY=many: ",
		"DARKROOM_LEADER_ELECT=perhaps manager": "DARKROOM_LEADER_ELECT=perhaps: ",
		"DARKROOM_LOG_LEVEL=loud manager":       "--log-level=loud: ",
		// With a wrong argument a container must fail, instead of printing the help and succeeding.
		"templat": `unknown command "templat" for "darkroom-operator"`,

		"plan":                                      "KUBECONFIG=" + missing + ": no such file",
		"plan --output=yaml":                        "--output=yaml: must be one of text, json, markdown",
		"plan --selector=team=(":                    "--selector=team=(: must be a label selector such as team=shop",
		"plan -A -n cats":                           "--all-namespaces and --namespace are mutually exclusive",
		"apiserver":                                 "KUBECONFIG=" + missing + ": no such file",
		"apiserver --auth=none":                     `auth "none": must be token or kubeconfig`,
		"apiserver --auth=kubeconfig":               "bind address :5000: with auth kubeconfig it must be a loopback address",
		"apiserver --base-domain=my_domain":         `base domain "my_domain": must be a DNS name such as darkroom.example.com`,
		"apiserver --burst=0":                       "--requests-per-second=20 --burst=0: must be more than 0",
		"apiserver --log-level=loud":                "--log-level=loud: must be debug, info or error",
		"apiserver --oidc-config=none.yaml":         "read OIDC configuration: open none.yaml:",
		"apiserver --tls-cert-file=tls.crt":         "TLS needs both a certificate and a key",
		"apiserver --watch-namespaces=cats,Dogs":    `--watch-namespaces: invalid namespace "Dogs"`,
		"apiserver --bind-address=0.0.0.0:5000 now": `unknown command "now" for "darkroom-operator apiserver"`,
		"DARKROOM_APISERVER=true apiserver":         "KUBECONFIG=" + missing + ": no such file",
		"DARKROOM_APISERVER=off apiserver":          "DARKROOM_APISERVER=off: must be true or false",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			for ; strings.HasPrefix(args[0], "DARKROOM_"); args = args[1:] {
				name, value, _ := strings.Cut(args[0], "=")
				t.Setenv(name, value)
			}
			root := newRoot()
			root.SetArgs(args)
			root.SetOut(io.Discard)
			if err := root.ExecuteContext(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got error %v, want one that begins with %s", err, want)
			}
		})
	}
}

// If two installations shared a lease, one of them would never lead.
func TestEachInstallationAndShardHasItsOwnLease(t *testing.T) {
	shard, err := labels.Parse("shard=a")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, installation := range []string{defaultInstallation(), "first", "second", "Not_a.DNS.name"} {
		for _, darkrooms := range []labels.Selector{labels.Everything(), shard} {
			for _, namespaces := range [][]string{nil, {"a"}, {"a", "b"}} {
				id := leaderElectionID(installation, darkrooms, namespaces)
				if seen[id] || len(validation.IsDNS1123Subdomain(id)) > 0 {
					t.Errorf("installation %s, shard %s, namespaces %v: got the name %s, want a valid one of its own",
						installation, darkrooms, namespaces, id)
				}
				seen[id] = true
			}
		}
	}
	plain := "darkroom-operator.deployments.example.com"
	if leaderElectionID(defaultInstallation(), labels.Everything(), nil) != plain {
		t.Errorf("the lease of the default installation is not %s, which docs/install.md deletes", plain)
	}
}

func TestMetricsOfDarkroomsNeedTheAuthorizationOfTheServer(t *testing.T) {
	darkrooms := &metrics.Darkrooms{
		Cache: fake.NewClientBuilder().WithScheme(controller.NewScheme()).
			WithObjects(darkrooms.New("photos", "team-a").Obj()).Build(),
		Leads: func() bool { return true },
	}
	for secure, want := range map[bool]int{false: http.StatusOK, true: http.StatusUnauthorized} {
		options := managerOptions{metricsSecure: secure}
		handler, err := options.metrics(&rest.Config{Host: "https://127.0.0.1:1"}, http.DefaultClient, darkrooms)
		if err != nil {
			t.Fatal(err)
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		body := recorder.Body.String()
		if recorder.Code != want {
			t.Errorf("secure %t: got HTTP %d, want %d", secure, recorder.Code, want)
		}
		for _, metric := range []string{"go_goroutines", "darkroom_info"} {
			if got := strings.Contains(body, metric); got == secure {
				t.Errorf("secure %t: got metric %s: %t, want %t:\n%s", secure, metric, got, !secure, body)
			}
		}
	}
}
