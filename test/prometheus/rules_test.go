package prometheus

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// healthy are the series of an operator without a problem.
const healthy = `
  darkroom_operator_build_info{version="1",chart_version="2"} 1x10000
  darkroom_operator_last_successful_reconcile_timestamp_seconds 0+60x10000
  darkroom_operator_darkrooms{phase="Ready",source_type="S3"} 1x10000
`

// each returns the series of a Darkroom without a problem, from an operator that reports each Darkroom.
const each = `
  darkroom_info{namespace="team-a",name="photos",version="v1",source="S3"} 1x10000
  darkroom_status_condition{namespace="team-a",name="photos",type="DomainsReady",status="True"} 1x10000
  darkroom_status_condition{namespace="team-a",name="photos",type="CredentialsReady",status="True"} 1x10000
  darkroom_status_condition{namespace="team-a",name="photos",type="ReleaseFailed",status="False"} 1x10000
  darkroom_status_condition{namespace="team-a",name="photos",type="Irreconcilable",status="False"} 1x10000
  darkroom_rollout_desired_replicas{namespace="team-a",name="photos"} 2x10000
  darkroom_rollout_updated_replicas{namespace="team-a",name="photos"} 2x10000
  darkroom_rollout_ready_replicas{namespace="team-a",name="photos"} 2x10000
`

const ready = `
  darkroom_status_condition{namespace="team-a",name="photos",type="Ready",status="True"} 1x10000
`

// shop are the series of a second Darkroom, which has a condition.
func shop(condition, status string) string {
	return `
  darkroom_info{namespace="team-b",name="shop",version="v1",source="S3"} 1x10000
  darkroom_status_condition{namespace="team-b",name="shop",type="` + condition + `",status="` + status + `"} 1x10000
`
}

// shopReady are the series of a second Darkroom that is ready, and has another condition.
func shopReady(condition, status string) string {
	return shop("Ready", "True") + `
  darkroom_status_condition{namespace="team-b",name="shop",type="` + condition + `",status="` + status + `"} 1x10000
`
}

const fine = healthy + each + ready

// total returns the series of an operator that reports only totals, with one Darkroom in a phase.
func total(phase string) string {
	return healthy + fmt.Sprintf("  darkroom_operator_darkrooms{phase=%q,source_type=\"S3\"} 1x10000\n", phase)
}

// probes returns the probes of a Darkroom without another problem, and of a Darkroom that is always served.
func probes(results string) string {
	return fine + `
  darkroom_probe_success{namespace="team-a",name="photos"} ` + results + `
  darkroom_probe_success{namespace="team-b",name="shop"} 1x10000
`
}

// outOfMemory returns the series of a container that the kernel killed after half an hour.
func outOfMemory(namespace, pod, container string) string {
	labels := fmt.Sprintf(`{namespace=%q,pod=%q,container=%q`, namespace, pod, container)
	return `
  kube_pod_container_status_restarts_total` + labels + `} 0x30 1x10000
  kube_pod_container_status_last_terminated_reason` + labels + `,reason="OOMKilled"} _x30 1x10000
`
}

// requests returns a gate's requests that succeed and fail.
func requests(succeed, fail string) string {
	return `
  darkroom_gate_requests_total{namespace="team-a",service="photos",pod="a",code="200",cache="hit"} ` + succeed + `
  darkroom_gate_requests_total{namespace="team-a",service="photos",pod="a",code="502",cache="miss"} ` + fail + `
`
}

// durations describes 100 requests per minute, of which some take less than a second and the others 10 seconds.
func durations(fast string) string {
	return `
  darkroom_gate_request_duration_seconds_bucket{namespace="team-a",service="photos",pod="a",le="1"} ` + fast + `
  darkroom_gate_request_duration_seconds_bucket{namespace="team-a",service="photos",pod="a",le="10"} 0+100x10000
  darkroom_gate_request_duration_seconds_bucket{namespace="team-a",service="photos",pod="a",le="+Inf"} 0+100x10000
`
}

// gone returns the series of an operator that is not scraped any more after ten minutes.
const gone = `
  darkroom_operator_build_info{version="1",chart_version="2"} 1x10 stale
`

// alertTest is a situation and the alerts that fire in it; no other alert may fire. The number 10000 in series means
// the remaining time.
type alertTest struct {
	name   string
	series string
	// at is the time at which alerts are checked, and step the time between two evaluations; a minute by default.
	at, step time.Duration
	want     []string
}

// Alerts of several tests.
const (
	shopNotReady = "DarkroomNotReady name=shop namespace=team-b severity=warning"
	burnsFast    = "DarkroomErrorBudgetBurnFast name=photos namespace=team-a severity=critical"
	burnsSlow    = "DarkroomErrorBudgetBurnSlow name=photos namespace=team-a severity=warning"
)

var alertTests = append(conditionTests(), []alertTest{
	{name: "all is well", series: fine, at: time.Hour},

	// The operator.
	{
		name: "the operator is gone", series: gone, at: 25 * time.Minute,
		want: []string{"DarkroomOperatorAbsent severity=critical"},
	},
	{name: "the operator has just gone", series: gone, at: 15 * time.Minute},
	{
		name: "no reconcile succeeds", series: strings.Replace(fine, "0+60x10000", "0x10000", 1), at: 75 * time.Minute,
		want: []string{"DarkroomOperatorStalled severity=critical"},
	},
	{name: "nothing is to be reconciled", series: strings.NewReplacer("0+60x10000", "0x10000", `source_type="S3"} 1x`,
		`source_type="S3"} 0x`).Replace(fine), at: 75 * time.Minute},
	{name: "a controller keeps failing", series: fine + `
  controller_runtime_reconcile_errors_total{controller="darkroom-helm"} 0+30x10000
  controller_runtime_reconcile_errors_total{controller="another"} 0+30x10000
`, at: 40 * time.Minute, want: []string{"DarkroomOperatorErrors controller=darkroom-helm severity=warning"}},

	// If Darkrooms are not reported one by one, the total counts.
	{
		name: "Darkrooms have failed", series: total("Failed"), at: 40 * time.Minute,
		want: []string{"DarkroomsNotReady phase=Failed severity=warning"},
	},
	{
		name: "Darkrooms stay in a phase", series: total("Deploying"), at: 40 * time.Minute,
		want: []string{"DarkroomsNotReady phase=Deploying severity=warning"},
	},
	{name: "Darkrooms are paused", series: total("Paused"), at: 40 * time.Minute},
	{name: "the total is ignored if Darkrooms are reported one by one", series: total("Failed") + each + ready, at: time.Hour},

	// One Darkroom.
	{
		name: "a Darkroom is not ready", series: fine + shop("Ready", "False"), at: 16 * time.Minute,
		want: []string{shopNotReady},
	},
	{name: "a Darkroom is being rolled out", series: fine + shop("Ready", "False"), at: 14 * time.Minute},
	{
		name: "no operator has handled a Darkroom", series: fine + shop("Paused", "False"), at: 16 * time.Minute,
		want: []string{shopNotReady},
	},
	{name: "a Darkroom is paused", series: fine + shop("Ready", "Unknown") + `
  darkroom_status_condition{namespace="team-b",name="shop",type="Paused",status="True"} 1x10000
`, at: time.Hour},
	{name: "a Darkroom is stalled, which is more than not ready", series: fine + shop("Ready", "False") + `
  darkroom_status_condition{namespace="team-b",name="shop",type="Stalled",status="True"} 1x10000
`, at: time.Hour, want: []string{"DarkroomStalled name=shop namespace=team-b severity=warning"}},
	{
		name: "a rollout does not end", series: healthy + ready +
			strings.Replace(each, "updated_replicas{namespace=\"team-a\",name=\"photos\"} 2",
				"updated_replicas{namespace=\"team-a\",name=\"photos\"} 1", 1),
		at: 31 * time.Minute, want: []string{"DarkroomRolloutIncomplete name=photos namespace=team-a severity=warning"},
	},
	{name: "the leader changes meanwhile", series: fine + `
  darkroom_info{namespace="team-b",name="shop",version="v1",source="S3",pod="a"} 1x10 stale
  darkroom_status_condition{namespace="team-b",name="shop",type="Ready",status="False",pod="a"} 1x10 stale
  darkroom_info{namespace="team-b",name="shop",version="v1",source="S3",pod="b"} _x10 1x10000
  darkroom_status_condition{namespace="team-b",name="shop",type="Ready",status="False",pod="b"} _x10 1x10000
`, at: 17 * time.Minute, want: []string{shopNotReady}},

	// Requests of clients.
	{
		name: "one request of five fails", series: fine + requests("0+48x10000", "0+12x10000"), at: 25 * time.Minute,
		want: []string{"DarkroomGateErrors name=photos namespace=team-a severity=warning"},
	},
	{name: "one request of fifty fails", series: fine + requests("0+98x10000", "0+2x10000"), at: 25 * time.Minute},
	{name: "only the operator's probe fails", series: fine + requests("0x10000", "0+6x10000"), at: 25 * time.Minute},
	{
		name: "only the operator's probe is slow", series: fine + strings.ReplaceAll(durations("0x10000"), "0+100x", "0+6x"),
		at: 30 * time.Minute,
	},
	{name: "requests have failed for a minute", series: fine + requests("0+48x10000", "0x60 48 0x10000"), at: time.Hour},
	{
		name: "one request of ten is slow", series: fine + durations("0+90x10000"), at: 30 * time.Minute,
		want: []string{"DarkroomGateSlow name=photos namespace=team-a severity=warning"},
	},
	{name: "one request of a thousand is slow", series: fine + durations("0+99.9x10000"), at: 30 * time.Minute},
	{name: "requests wait", series: fine + `
  darkroom_gate_queue_length{namespace="team-a",service="photos",pod="a",queue="transform"} 900x10000
  darkroom_gate_queue_length{namespace="team-a",service="photos",pod="b",queue="transform"} 100x10000
  darkroom_gate_queue_length{namespace="team-a",service="photos",pod="b",queue="fetch"} 100x10000
`, at: 5 * time.Minute, want: []string{"DarkroomGateQueueFull name=photos namespace=team-a queue=transform severity=warning"}},
	{
		name: "containers run out of memory", at: 35 * time.Minute,
		series: fine + outOfMemory("team-a", "photos-7d9c-x2x", "darkroom") + outOfMemory("team-c", "other-7d9c-x2x", "gate"),
		want:   []string{"DarkroomOutOfMemory container=darkroom name=photos namespace=team-a severity=warning"},
	},
	{
		name:   "a container ran out of memory an hour ago",
		series: fine + outOfMemory("team-a", "photos-7d9c-x2x", "darkroom"), at: 90 * time.Minute,
	},

	// The objective.
	{name: "all probes fail", series: probes("1x120 0x10000"), at: 140 * time.Minute, want: []string{burnsFast}},
	{
		name: "all probes have failed for hours", series: probes("1x120 0x10000"), at: 200 * time.Minute,
		want: []string{burnsFast, burnsSlow},
	},
	{name: "one probe fails", series: probes("1x120 0 1x10000"), at: 130 * time.Minute},
	{
		name: "probes succeed again", series: probes("1x1440 0x10 1x10000"),
		at: 1500 * time.Minute, step: 10 * time.Minute,
	},
	{
		name: "one probe of 50 fails, for days", series: probes(strings.Repeat("1x48 0 ", 90)),
		at: 72 * time.Hour, step: 30 * time.Minute,
		want: []string{burnsSlow},
	},
	{
		name: "one probe of 200 fails, for days", series: probes(strings.Repeat("1x198 0 ", 24)),
		at: 72 * time.Hour, step: 30 * time.Minute,
	},
}...)

// conditionTests contains a test for each condition of a Darkroom that is otherwise ready.
func conditionTests() (tests []alertTest) {
	for _, test := range []struct {
		condition, status string
		at                time.Duration
		alert, severity   string
	}{
		{"ReleaseFailed", "True", 11 * time.Minute, "DarkroomReleaseFailed", "warning"},
		{"Irreconcilable", "True", 11 * time.Minute, "DarkroomReleaseFailed", "warning"},
		{"DomainsReady", "False", 31 * time.Minute, "DarkroomDomainsNotReady", "warning"},
		{"DomainsReady", "Unknown", 31 * time.Minute, "DarkroomDomainsNotReady", "warning"},
		{"CredentialsReady", "False", 6 * time.Minute, "DarkroomCredentialsNotReady", "warning"},
		{"Contested", "True", 16 * time.Minute, "DarkroomContested", "info"},
	} {
		tests = append(tests, alertTest{
			name: test.condition + " is " + test.status, series: fine + shopReady(test.condition, test.status), at: test.at,
			want: []string{test.alert + " name=shop namespace=team-b severity=" + test.severity},
		})
	}
	return tests
}

// blankLines would end the load command.
var blankLines = regexp.MustCompile(`\n\s*\n`)

// A ruler may evaluate the series of several clusters. Events in one cluster must neither cause nor hide alerts of
// another cluster, in which all is well.
func TestAlertsFireWhenTheyShould(t *testing.T) {
	for _, test := range alertTests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && test.at > 24*time.Hour {
				t.Skip("days of series take long")
			}
			want := []string{}
			for _, alert := range test.want {
				want = append(want, strings.Replace(alert, " ", " cluster=a ", 1))
			}
			series := inCluster("a", test.series) + inCluster("b", fine)
			if diff := cmp.Diff(want, firingAfter(t, series, test.at, test.step)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOneCauseHasOneAlert creates a Darkroom for each combination of conditions: a missing Secret also fails the
// rollout and Ready, and a refused host is also Stalled. A user who pauses a Darkroom knows about it.
func TestOneCauseHasOneAlert(t *testing.T) {
	conditions := []struct{ name, fine, wrong string }{
		{"Ready", "True", "False"},
		{"Paused", "False", "True"},
		{"Stalled", "False", "True"},
		{"ReleaseFailed", "False", "True"},
		{"Irreconcilable", "False", "True"},
		{"DomainsReady", "True", "False"},
		{"CredentialsReady", "True", "False"},
		{"rollout", "2", "1"},
	}
	const paused = 2
	var series strings.Builder
	series.WriteString(healthy)
	for combination := range 1 << len(conditions) {
		labels := fmt.Sprintf(`namespace="team-a",name="d%d"`, combination)
		fmt.Fprintf(&series, "  darkroom_info{%s,source=\"S3\"} 1x10000\n", labels)
		for i, condition := range conditions {
			status := condition.fine
			if combination>>i&1 == 1 {
				status = condition.wrong
			}
			if condition.name == "rollout" {
				fmt.Fprintf(&series,
					"  darkroom_rollout_desired_replicas{%s} 2x10000\n  darkroom_rollout_updated_replicas{%[1]s} %sx10000\n",
					labels, status)
				continue
			}
			fmt.Fprintf(&series, "  darkroom_status_condition{%s,type=%q,status=%q} 1x10000\n", labels, condition.name, status)
		}
	}
	alerts := map[string][]string{}
	for _, alert := range firingAfter(t, series.String(), time.Hour, 5*time.Minute) {
		name, labels, _ := strings.Cut(alert, " ")
		_, darkroom, _ := strings.Cut(labels, "name=d")
		darkroom, _, _ = strings.Cut(darkroom, " ")
		alerts[darkroom] = append(alerts[darkroom], name)
	}
	for combination := range 1 << len(conditions) {
		want := 1
		if combination == 0 || combination&paused != 0 {
			want = 0
		}
		if got := alerts[fmt.Sprint(combination)]; len(got) != want {
			t.Errorf("%08b (from the right: %v): %d alerts: %v", combination, conditions, len(got), got)
		}
	}
}

func TestAnOperatorThatNeverRanIsAbsent(t *testing.T) {
	want := []string{"DarkroomOperatorAbsent severity=critical"}
	if diff := cmp.Diff(want, firingAfter(t, each+ready, 11*time.Minute, time.Minute)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// firingAfter returns the alerts that fire at a time after the start of the series.
func firingAfter(t *testing.T, series string, at, step time.Duration) []string {
	t.Helper()
	series = strings.ReplaceAll(series, "x10000", fmt.Sprintf("x%d", int(at.Minutes())+1))
	s := newServer(t, blankLines.ReplaceAllString("load 1m\n"+series, "\n"))
	s.run(t, at, max(step, time.Minute))
	return s.firing(t)
}

var metricName = regexp.MustCompile(`(?m)^(\s*[a-z_]+)(\{)?`)

// inCluster adds a label to all series.
func inCluster(cluster, series string) string {
	series = blankLines.ReplaceAllString("\n"+series, "\n")
	labeled := metricName.ReplaceAllString(series, `$1{cluster="`+cluster+`",`)
	return strings.ReplaceAll(labeled, `", `, `"} `)
}

func TestEachAlertIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, test := range alertTests {
		for _, alert := range test.want {
			name, _, _ := strings.Cut(alert, " ")
			tested[name] = true
		}
	}
	_, groups := ruleFile(t)
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" && !tested[rule.Alert] {
				t.Errorf("%s fires in no test", rule.Alert)
			}
		}
	}
}
