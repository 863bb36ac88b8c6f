package metrics

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/golden"
)

// recorded returns a scrape of an operator with three Darkrooms, sorted.
func recorded(t *testing.T) []byte {
	t.Helper()
	reported := func(name, namespace string, conditions ...v1alpha1.Condition) *darkrooms.Builder {
		return darkrooms.New(name, namespace).Status(func(status *v1alpha1.DarkroomStatus) {
			status.Conditions = conditions
		})
	}
	photos := reported("photos", "team-a",
		v1alpha1.Condition{Type: v1alpha1.ConditionReady, Status: "True", Reason: v1alpha1.ReasonAllReplicasReady},
		v1alpha1.Condition{Type: v1alpha1.ConditionDomainsReady, Status: "True", Reason: v1alpha1.ReasonRouted},
		v1alpha1.Condition{Type: v1alpha1.ConditionSourceReady, Status: "True", Reason: v1alpha1.ReasonImageServed},
		v1alpha1.Condition{Type: v1alpha1.ConditionDeployed, Status: "True", Reason: v1alpha1.ReasonInstallSuccessful},
	).UID("1").Annotation(v1alpha1.AnnotationInstallation, "own").Obj()
	photos.Status.Phase, photos.Status.Version = v1alpha1.PhaseReady, "v0.4.2"
	shop := reported("shop", "team-b",
		v1alpha1.Condition{Type: v1alpha1.ConditionReady, Status: "False", Reason: v1alpha1.ReasonSecretMissing},
		v1alpha1.Condition{Type: v1alpha1.ConditionCredentialsReady, Status: "False", Reason: v1alpha1.ReasonSecretMissing},
		v1alpha1.Condition{Type: v1alpha1.ConditionDomainsReady, Status: "False", Reason: v1alpha1.ReasonDomainConflict},
		v1alpha1.Condition{Type: v1alpha1.ConditionSourceReady, Status: "False", Reason: v1alpha1.ReasonSourceDenied},
		v1alpha1.Condition{Type: v1alpha1.ConditionStalled, Status: "True", Reason: v1alpha1.ReasonSecretMissing},
	).UID("2").S3("shop", "eu-west-2").CredentialsSecret("keys").Obj()
	shop.Status.Phase, shop.Status.Version = v1alpha1.PhaseDegraded, "v0.4.1"
	others := darkrooms.New("others", "team-c").Annotation(v1alpha1.AnnotationInstallation, "another").Obj()
	each := reporting(t, photos, shop, others, deploymentOf(photos, ptr.To(int32(2)), 2, 2),
		deploymentOf(shop, ptr.To(int32(3)), 1, 2), leaseOf("photos.darkroom.example.com", "team-a/photos"))
	each.Probe = func(key types.NamespacedName) (probe.Sample, bool) {
		return probe.Sample{Served: key.Name == "photos", Duration: 20 * time.Millisecond}, true
	}
	registry := prometheus.NewPedanticRegistry()
	New(registry, "1", "2")
	response := httptest.NewRecorder()
	each.Handler(registry).
		ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return response.Body.Bytes()
}

// gathered returns all metrics of such an operator: name → type and labels.
func gathered(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, family := range parse(t, recorded(t)) {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		slices.Sort(labels)
		out[family.GetName()] = strings.ToLower(family.GetType().String()) + " " + strings.Join(labels, " ")
	}
	return out
}

// The rules and dashboards are evaluated with this scrape, in test/prometheus.
func TestTheRecordedScrapeIsOfThisOperator(t *testing.T) {
	golden.Check(t, filepath.Join("testdata", "scrape.txt"), strings.Join(samples(string(recorded(t))), "\n")+"\n")
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	expect.NoError(t, err)
	return string(raw)
}

func TestEachMetricIsDocumentedAsItIs(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| `(darkroom_[a-z_]+)` \\| ([a-z]+) \\| ([^|]*)\\|")
	documented := map[string]string{}
	for _, match := range row.FindAllStringSubmatch(read(t, "docs", "metrics.md"), -1) {
		labels := regexp.MustCompile("[a-z_]+").FindAllString(match[3], -1)
		slices.Sort(labels)
		documented[match[1]] = match[2] + " " + strings.Join(labels, " ")
	}
	expect.Equal(t, "docs/metrics.md", gathered(t), documented)
}

// No alert depends on a desired state.
func TestNoAlertIsAboutIdleDarkrooms(t *testing.T) {
	for _, alert := range alerts(t) {
		for _, match := range regexp.MustCompile(`phase(=~|=|!~|!=)"([^"]*)"`).FindAllStringSubmatch(alert.Expr, -1) {
			about := regexp.MustCompile("^("+match[2]+")$").
				MatchString(string(v1alpha1.PhaseIdle)) == !strings.HasPrefix(match[1], "!")
			if about {
				t.Errorf("%s: %s", alert.Alert, alert.Expr)
			}
		}
	}
}

// alert is one alert of a PrometheusRule.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var rule struct {
		Spec struct {
			Groups []struct {
				Rules []alert `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	expect.NoError(t, yaml.Unmarshal([]byte(read(t, "config", "prometheus", "rules.yaml")), &rule))
	var out []alert
	for _, group := range rule.Spec.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" { // otherwise it is a recording rule
				out = append(out, rule)
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("there are no alerts")
	}
	return out
}

func TestEachAlertLinksToItsRunbook(t *testing.T) {
	const page = "https://github.com/darkroom-operator/darkroom-operator/blob/main/docs/runbooks.md#"
	var sections, names []string
	for _, match := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(read(t, "docs", "runbooks.md"), -1) {
		sections = append(sections, match[1])
	}
	for _, alert := range alerts(t) {
		names = append(names, alert.Alert)
		if alert.Annotations["runbook_url"] != page+strings.ToLower(alert.Alert) {
			t.Errorf("%s links to %q", alert.Alert, alert.Annotations["runbook_url"])
		}
		if alert.For == "" || alert.Annotations["summary"] == "" ||
			!slices.Contains([]string{"info", "warning", "critical"}, alert.Labels["severity"]) {
			t.Errorf("%s has no duration, summary or severity", alert.Alert)
		}
	}
	slices.Sort(names)
	slices.Sort(sections)
	expect.Equal(t, "the sections of docs/runbooks.md, one for each alert", slices.Compact(names), sections)
}
