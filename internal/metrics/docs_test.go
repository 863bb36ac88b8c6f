package metrics

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// recorded returns a scrape of an operator with three Darkrooms, sorted.
func recorded(t *testing.T) []byte {
	t.Helper()
	condition := func(name string, status metav1.ConditionStatus, reason string) v1alpha1.Condition {
		return v1alpha1.Condition{Type: name, Status: status, Reason: reason}
	}
	photos := darkrooms.New("photos", "team-a").UID("1").Annotation(v1alpha1.AnnotationInstallation, "own").
		Condition(condition(v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllReplicasReady)).
		Condition(condition(v1alpha1.ConditionDomainsReady, "True", v1alpha1.ReasonRouted)).
		Condition(condition(v1alpha1.ConditionSourceReady, "True", v1alpha1.ReasonImageServed)).
		Condition(condition(v1alpha1.ConditionDeployed, "True", v1alpha1.ReasonInstallSuccessful)).Obj()
	photos.Status.Phase, photos.Status.Version = v1alpha1.PhaseReady, "v0.4.2"
	shop := darkrooms.New("shop", "team-b").UID("2").S3("shop", "eu-west-2").CredentialsSecret("keys").
		Condition(condition(v1alpha1.ConditionReady, "False", v1alpha1.ReasonSecretMissing)).
		Condition(condition(v1alpha1.ConditionCredentialsReady, "False", v1alpha1.ReasonSecretMissing)).
		Condition(condition(v1alpha1.ConditionDomainsReady, "False", v1alpha1.ReasonDomainConflict)).
		Condition(condition(v1alpha1.ConditionSourceReady, "False", v1alpha1.ReasonSourceDenied)).
		Condition(condition(v1alpha1.ConditionStalled, "True", v1alpha1.ReasonSecretMissing)).Obj()
	shop.Status.Phase, shop.Status.Version = v1alpha1.PhaseDegraded, "v0.4.1"
	others := darkrooms.New("others", "team-c").Annotation(v1alpha1.AnnotationInstallation, "another").Obj()
	each := reporting(t, photos, shop, others, deploymentOf(photos, ptr.To(int32(2)), 2, 2), deploymentOf(shop, ptr.To(int32(3)), 1, 2))
	each.Probe = func(key types.NamespacedName) (probe.Sample, bool) {
		return probe.Sample{Served: key.Name == "photos", Duration: 20 * time.Millisecond}, true
	}
	registry := prometheus.NewPedanticRegistry()
	New(registry, "1", "2")
	response := httptest.NewRecorder()
	each.Handler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{})).ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/metrics", nil))
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

var update = flag.Bool("update", false, "write testdata/scrape.txt")

// The rules and dashboards are evaluated with this scrape, in test/prometheus.
func TestTheRecordedScrapeIsOfThisOperator(t *testing.T) {
	path := filepath.Join("testdata", "scrape.txt")
	got := recorded(t)
	lines := strings.SplitAfter(string(got), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") })
	slices.Sort(lines)
	text := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s: run the test with -update (-recorded +now):\n%s", path, diff)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff(gathered(t), documented); diff != "" {
		t.Errorf("docs/metrics.md (-registered +documented):\n%s", diff)
	}
}

// No alert is about a desired state.
func TestNoAlertIsAboutIdleDarkrooms(t *testing.T) {
	for _, alert := range alerts(t) {
		for _, match := range regexp.MustCompile(`phase(=~|=|!~|!=)"([^"]*)"`).FindAllStringSubmatch(alert.Expr, -1) {
			about := regexp.MustCompile("^("+match[2]+")$").MatchString(string(v1alpha1.PhaseIdle)) == !strings.HasPrefix(match[1], "!")
			if about {
				t.Errorf("%s: %s", alert.Alert, alert.Expr)
			}
		}
	}
}

// alert is one of a PrometheusRule.
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
	if err := yaml.Unmarshal([]byte(read(t, "config", "prometheus", "rules.yaml")), &rule); err != nil {
		t.Fatal(err)
	}
	var out []alert
	for _, group := range rule.Spec.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" { // else it records a series
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
	sections := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(read(t, "docs", "runbooks.md"), -1) {
		sections[match[1]] = false
	}
	for _, alert := range alerts(t) {
		if alert.Annotations["runbook_url"] != page+strings.ToLower(alert.Alert) {
			t.Errorf("%s links to %q", alert.Alert, alert.Annotations["runbook_url"])
		}
		if _, found := sections[alert.Alert]; !found {
			t.Errorf("docs/runbooks.md has no section %s", alert.Alert)
		}
		sections[alert.Alert] = true
		if alert.For == "" || alert.Annotations["summary"] == "" || !slices.Contains([]string{"info", "warning", "critical"}, alert.Labels["severity"]) {
			t.Errorf("%s has no duration, summary or severity", alert.Alert)
		}
	}
	for section, used := range sections {
		if !used {
			t.Errorf("no alert leads to the section %s of docs/runbooks.md", section)
		}
	}
}
