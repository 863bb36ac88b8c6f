package metrics

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Metrics of controller-runtime, client-go and the Go runtime that are asked for.
var foreignMetrics = []string{
	"controller_runtime_reconcile_errors_total", "workqueue_depth", "rest_client_requests_total", "process_resident_memory_bytes",
}

var (
	quotedText  = regexp.MustCompile(`"[^"]*"`)
	matchers    = regexp.MustCompile(`\{([^{}]*)\}`)
	oneMatcher  = regexp.MustCompile(`^\s*([a-z_]+)\s*(=|!=|=~|!~)\s*""\s*$`)
	rangeText   = regexp.MustCompile(`\[([^\[\]]*)\]`)
	duration    = regexp.MustCompile(`^[0-9]+[smhd]$`)
	grouping    = regexp.MustCompile(`\b(by|without)\s*\(([a-z_, ]*)\)`)
	word        = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*(\s*\()?`)
	functions   = []string{"sum", "max", "absent", "time", "rate", "increase", "histogram_quantile"}
	operators   = []string{"and", "or", "unless"}
	histograms  = regexp.MustCompile(`_(bucket|count|sum)$`)
	labelsKnown = []string{"phase", "source_type", "operation", "result", "version", "chart_version", "controller", "name", "method", "code", "job", "le"}
)

// checkExpression checks as much of PromQL as the alerts and the dashboard use:
// brackets, label matchers, ranges, functions, and that each metric and label exists.
func checkExpression(expression string, known map[string]string) error {
	rest := quotedText.ReplaceAllString(expression, `""`)
	var errs []error
	for _, match := range matchers.FindAllStringSubmatch(rest, -1) {
		for matcher := range strings.SplitSeq(match[1], ",") {
			parts := oneMatcher.FindStringSubmatch(matcher)
			if parts == nil || !slices.Contains(labelsKnown, parts[1]) {
				errs = append(errs, fmt.Errorf("matcher %q", matcher))
			}
		}
	}
	rest = matchers.ReplaceAllString(rest, "")
	for _, match := range rangeText.FindAllStringSubmatch(rest, -1) {
		if !duration.MatchString(match[1]) {
			errs = append(errs, fmt.Errorf("range %q", match[1]))
		}
	}
	rest = rangeText.ReplaceAllString(rest, "")
	for _, match := range grouping.FindAllStringSubmatch(rest, -1) {
		for label := range strings.SplitSeq(match[2], ",") {
			if !slices.Contains(labelsKnown, strings.TrimSpace(label)) {
				errs = append(errs, fmt.Errorf("label %q", label))
			}
		}
	}
	rest = grouping.ReplaceAllString(rest, "")
	for _, match := range word.FindAllString(rest, -1) {
		name, isCall := strings.CutSuffix(match, "(")
		name = strings.TrimSpace(name)
		_, ours := known[name]
		_, ofHistogram := known[histograms.ReplaceAllString(name, "")]
		switch {
		case isCall && slices.Contains(functions, name), !isCall && slices.Contains(operators, name),
			!isCall && slices.Contains(functions, name) && strings.Contains(expression, name+" by"):
		case !isCall && (ours || ofHistogram || slices.Contains(foreignMetrics, name)):
		default:
			errs = append(errs, fmt.Errorf("unknown %q", name))
		}
	}
	depth := 0
	for _, r := range rest {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case '{', '}', '[', ']', '"':
			errs = append(errs, fmt.Errorf("stray %q", r))
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		errs = append(errs, errors.New("parentheses do not match"))
	}
	return errors.Join(errs...)
}

func TestExpressionsThatAreWrongAreFound(t *testing.T) {
	known := gathered(t)
	for _, wrong := range []string{
		`sum(darkroom_operator_darkroom) > 0`,
		`sum(darkroom_operator_darkrooms > 0`,
		`sum(darkroom_operator_darkrooms{fase="Failed"})`,
		`sum(darkroom_operator_darkrooms{phase=Failed})`,
		`increase(darkroom_operator_drift_repairs_total[1 hour])`,
		`total(darkroom_operator_darkrooms)`,
	} {
		if checkExpression(wrong, known) == nil {
			t.Errorf("nothing is found wrong with %s", wrong)
		}
	}
}
