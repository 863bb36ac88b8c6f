package metrics

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// gathered returns all metrics of an operator with a Darkroom: name → type and labels.
func gathered(t *testing.T) map[string]string {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(darkrooms.New("photos", "team-a").Obj()).Build()
	registry := prometheus.NewPedanticRegistry()
	err := New("1", "2").Register(registry, &Fleet{Darkrooms: reader, Leads: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, family := range families {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		slices.Sort(labels)
		out[family.GetName()] = strings.ToLower(family.GetType().String()) + " " + strings.Join(labels, " ")
	}
	return out
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
	row := regexp.MustCompile("(?m)^\\| `(darkroom_operator_[a-z_]+)` \\| ([a-z]+) \\| ([^|]*)\\|")
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

func TestEachMetricIsOnThePageOfConditions(t *testing.T) {
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `(darkroom_operator_[a-z_]+)` \\| .+ \\| .+ \\|$").FindAllStringSubmatch(read(t, "docs", "conditions.md"), -1) {
		documented[match[1]] = true
	}
	registered := map[string]bool{}
	for name := range gathered(t) {
		registered[name] = true
	}
	if diff := cmp.Diff(registered, documented); diff != "" {
		t.Errorf("docs/conditions.md (-registered +documented):\n%s", diff)
	}
}

// No alert is for what somebody asked for.
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
		out = append(out, group.Rules...)
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

func TestAlertsAndDashboardAskForMetricsThatExist(t *testing.T) {
	var dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(read(t, "config", "prometheus", "dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	expressions := map[string][]string{}
	for _, alert := range alerts(t) {
		expressions["alert "+alert.Alert] = []string{alert.Expr}
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			expressions["panel "+panel.Title] = append(expressions["panel "+panel.Title], target.Expr)
		}
	}
	known := gathered(t)
	for where, list := range expressions {
		for _, expression := range list {
			if err := checkExpression(expression, known); err != nil {
				t.Errorf("%s: %v in %s", where, err, expression)
			}
		}
	}
}
