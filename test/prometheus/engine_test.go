package prometheus

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/yaml"
)

// repository is the folder of the repository.
var repository = filepath.Join("..", "..")

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{repository}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// ruleFile checks the groups of the PrometheusRule, and writes them to a file that Prometheus loads.
func ruleFile(t *testing.T) (path string, groups *rulefmt.RuleGroups) {
	t.Helper()
	var resource struct {
		Spec any `json:"spec"`
	}
	if err := yaml.Unmarshal(read(t, "config", "prometheus", "rules.yaml"), &resource); err != nil {
		t.Fatal(err)
	}
	content, err := yaml.Marshal(resource.Spec)
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(content, false, model.LegacyValidation, parser.NewParser(parser.Options{}),
		slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	path = filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, groups
}

// server evaluates the rules over series, as a Prometheus server does.
type server struct {
	*promqltest.LazyLoader
	groups []*rules.Group
	now    time.Time
}

// newServer returns a server that scrapes the series of a load command from the start of
// the Unix epoch.
func newServer(t *testing.T, load string) *server {
	t.Helper()
	loader, err := promqltest.NewLazyLoader(load,
		promqltest.LazyLoaderOpts{EnableAtModifier: true, EnableNegativeOffset: true})
	if err != nil {
		t.Fatalf("%v in:\n%s", err, load)
	}
	t.Cleanup(func() {
		if err := loader.Close(); err != nil {
			t.Error(err)
		}
	})
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(loader.QueryEngine(), loader.Storage()),
		Appendable: loader.Storage(),
		Queryable:  loader.Storage(),
		Context:    t.Context(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger:     slog.New(slog.DiscardHandler),
		Parser:     parser.NewParser(parser.Options{}),
	})
	path, _ := ruleFile(t)
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, path)
	for _, err := range errs {
		t.Fatal(err)
	}
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			rule.SetRestored(true) // otherwise no series ALERTS is written
		}
	}
	return &server{LazyLoader: loader, groups: slices.Collect(maps.Values(groups)), now: time.Unix(0, 0).UTC()}
}

// run evaluates the rules at each step, up to a time after the start.
func (s *server) run(t *testing.T, until, step time.Duration) {
	t.Helper()
	for end := time.Unix(0, 0).Add(until); !s.now.After(end); s.now = s.now.Add(step) {
		s.WithSamplesTill(s.now, func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range s.groups {
				group.Eval(s.Context(), s.now)
				for _, rule := range group.Rules() {
					if err := rule.LastError(); err != nil {
						t.Fatalf("%s after %s: %v", rule.Name(), s.now.Sub(time.Unix(0, 0)), err)
					}
				}
			}
		})
	}
	s.now = s.now.Add(-step)
}

// firing returns the firing alerts: name, then labels sorted by name.
func (s *server) firing(t *testing.T) []string {
	t.Helper()
	firing := []string{}
	for _, group := range s.groups {
		for _, rule := range group.AlertingRules() {
			for _, alert := range rule.ActiveAlerts() {
				if alert.State != rules.StateFiring {
					continue
				}
				text := rule.Name()
				alert.Labels.Range(func(label labels.Label) {
					if label.Name != labels.AlertName {
						text += " " + label.Name + "=" + label.Value
					}
				})
				firing = append(firing, text)
				alert.Annotations.Range(func(annotation labels.Label) {
					if strings.Contains(annotation.Value, "<error") || strings.Contains(annotation.Value, "<no value>") {
						t.Errorf("%s: %s: %s", text, annotation.Name, annotation.Value)
					}
				})
			}
		}
	}
	slices.Sort(firing)
	return firing
}

// query evaluates an expression at the current time of the test.
func (s *server) query(t *testing.T, expression string) promql.Vector {
	t.Helper()
	query, err := s.QueryEngine().NewInstantQuery(s.Context(), s.Queryable(), nil, expression, s.now)
	if err != nil {
		t.Errorf("%v in %s", err, expression)
		return nil
	}
	defer query.Close()
	result := query.Exec(s.Context())
	if result.Err != nil || len(result.Warnings) > 0 {
		t.Errorf("error %v, warnings %v in %s", result.Err, result.Warnings, expression)
		return nil
	}
	switch value := result.Value.(type) {
	case promql.Vector:
		for i := range value {
			value[i].Metric = value[i].Metric.Copy()
		}
		return slices.Clone(value)
	case promql.Scalar:
		return promql.Vector{{F: value.V}}
	default:
		t.Errorf("%s is a %s", expression, value.Type())
		return nil
	}
}

// foreign are series of controller-runtime, client-go and the Go runtime, as the manager serves them.
const foreign = `
controller_runtime_reconcile_errors_total{controller="darkroom-helm"} 0
workqueue_depth{name="darkroom-helm",controller="darkroom-helm",priority=""} 0
rest_client_requests_total{code="200",host="10.96.0.1:443",method="GET"} 12
process_resident_memory_bytes 8e+07
`

var sampleLine = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)

// recorded returns a load command with the series of the recorded scrape, the labels
// that Prometheus adds to each target, and series of kube-state-metrics and of a gate.
func recorded(t *testing.T) string {
	t.Helper()
	load := "load 1m\n"
	for line := range strings.Lines(string(read(t, "internal", "metrics", "testdata", "scrape.txt")) + foreign) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		parts := sampleLine.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("%s is not a sample", line)
		}
		target := `cluster="a",job="darkroom-operator-controller-manager-metrics-service",pod="manager"`
		if !strings.Contains(parts[2], "namespace=") {
			target += `,namespace="darkroom-system"`
		}
		load += fmt.Sprintf("  %s{%s} %sx180\n", parts[1], strings.Trim(parts[2]+","+target, ","), parts[3])
	}
	load += `  kube_pod_container_status_restarts_total{cluster="a",namespace="team-b",pod="shop-1-a",container="gate"} 1x180
  kube_pod_container_status_last_terminated_reason{cluster="a",namespace="team-b",pod="shop-1-a",container="gate",reason="OOMKilled"} 1x180
`
	for series := range strings.Lines(string(read(t, "gate", "testdata", "series.txt"))) {
		name, labels, _ := strings.Cut(strings.TrimRight(series, "}\n"), "{")
		target := `cluster="a",namespace="team-b",service="shop",pod="shop-1-a",container="gate"`
		load += fmt.Sprintf("  %s{%s} 1x180\n", name, strings.Trim(labels+","+target, ","))
	}
	return load
}
