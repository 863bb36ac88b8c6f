package prometheus

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// dashboard contains the evaluated parts of a dashboard.
type dashboard struct {
	UID        string `json:"uid"`
	Templating struct {
		List []struct {
			Name  string          `json:"name"`
			Type  string          `json:"type"`
			Query json.RawMessage `json:"query"`
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		Title   string `json:"title"`
		Targets []struct {
			Expr         string `json:"expr"`
			LegendFormat string `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
}

func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, "config", "grafana", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %q: %v", files, err)
	}
	all := map[string]dashboard{}
	for _, file := range files {
		var content dashboard
		if err := json.Unmarshal(read(t, "config", "grafana", filepath.Base(file)), &content); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(file)] = content
	}
	return all
}

// variables are the variables that Grafana replaces: the Darkroom that has alerts and failing probes.
var variables = strings.NewReplacer("$cluster", ".*", "$namespace", "team-b", "$name", "shop")

var (
	legendLabel = regexp.MustCompile(`\{\{\s*([a-z_]+)\s*\}\}`)
	labelValues = regexp.MustCompile(`^label_values\((.*), ([a-z_]+)\)$`)
)

func TestEachPanelShowsTheRecordedScrape(t *testing.T) {
	s := newServer(t, recorded(t))
	s.run(t, 2*time.Hour, 5*time.Minute)
	expressions := map[string]string{}
	_, groups := ruleFile(t)
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			expressions[rule.Expr] = rule.Alert + rule.Record
		}
	}
	for file, board := range dashboards(t) {
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				expression := variables.Replace(target.Expr)
				expressions[expression] = file + ": " + panel.Title
				result := s.query(t, expression)
				if len(result) == 0 {
					t.Errorf("%s: %s shows nothing: %s", file, panel.Title, expression)
					continue
				}
				for _, label := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
					if result[0].Metric.Get(label[1]) == "" {
						t.Errorf("%s: %s has a legend with %s, and series %s", file, panel.Title, label[1], result[0].Metric)
					}
				}
			}
		}
		for _, variable := range board.Templating.List {
			if variable.Type == "query" {
				var query struct{ Query string }
				if err := json.Unmarshal(variable.Query, &query); err != nil {
					t.Fatalf("%s: %s: %v", file, variable.Name, err)
				}
				values := labelValues.ReplaceAllString(variables.Replace(query.Query), `group by ($2) ($1)`)
				expressions[values] = file + ": " + variable.Name
				if found := s.query(t, values); len(found) == 0 || found[0].Metric.IsEmpty() {
					t.Errorf("%s: %s has the values %v", file, variable.Name, found)
				}
			}
		}
	}
	s.checkSelectors(t, expressions)
}

// checkSelectors reports misspelled metrics and labels, which select nothing and which no alert reveals.
func (s *server) checkSelectors(t *testing.T, expressions map[string]string) {
	t.Helper()
	for expression, where := range expressions {
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		for _, selector := range parser.ExtractSelectors(parsed) {
			at := slices.IndexFunc(selector, func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel })
			if at < 0 {
				t.Errorf("%s: a selector names no metric", where)
				continue
			}
			name := selector[at].Value
			series := s.query(t, name)
			if len(series) == 0 {
				t.Errorf("%s: there is no metric %s", where, name)
				continue
			}
			for _, matcher := range selector {
				if matcher.Name != model.MetricNameLabel && !series[0].Metric.Has(matcher.Name) {
					t.Errorf("%s: %s has no label %s", where, name, matcher.Name)
				}
			}
		}
	}
}
