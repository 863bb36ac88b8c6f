package metrics

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// deploymentOf returns the Deployment of a Darkroom with some replicas.
func deploymentOf(darkroom *v1alpha1.Darkroom, desired *int32, updated, ready int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: darkroom.Name, Namespace: darkroom.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(darkroom, v1alpha1.GroupVersionKind)},
		},
		Spec:   appsv1.DeploymentSpec{Replicas: desired},
		Status: appsv1.DeploymentStatus{UpdatedReplicas: updated, ReadyReplicas: ready},
	}
}

// leaseOf returns the Lease of a host, held by NAMESPACE/NAME.
func leaseOf(host, holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operators", Name: host},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder},
	}
}

// written returns the metrics of Darkrooms, sorted. It fails the test if a scraper could not parse
// them.
func written(t *testing.T, d *Darkrooms) []string {
	t.Helper()
	var response bytes.Buffer
	expect.NoError(t, d.Write(t.Context(), &response))
	parse(t, response.Bytes())
	return samples(response.String())
}

// samples returns the lines of a response without comments, sorted.
func samples(response string) []string {
	lines := slices.Collect(strings.SplitSeq(strings.TrimSpace(response), "\n"))
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" || strings.HasPrefix(line, "#") })
	slices.Sort(lines)
	return lines
}

// parse returns the families of a response. It omits families without a metric.
func parse(t *testing.T, response []byte) []*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	parsed, err := parser.TextToMetricFamilies(bytes.NewReader(response))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, response)
	}
	return slices.DeleteFunc(slices.Collect(maps.Values(parsed)),
		func(family *dto.MetricFamily) bool { return len(family.GetMetric()) == 0 })
}

// reporting returns the metrics of a leader with some objects in its cache.
func reporting(t *testing.T, objects ...client.Object) *Darkrooms {
	t.Helper()
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	expect.NoError(t, appsv1.AddToScheme(scheme))
	expect.NoError(t, coordinationv1.AddToScheme(scheme))
	return &Darkrooms{
		Cache: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		Leads: func() bool { return true }, Installation: "own", LeaseNamespace: "operators",
	}
}

func TestEachDarkroomIsReported(t *testing.T) {
	ready := v1alpha1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}
	running := darkrooms.New("photos", "team-a").UID("1").
		Annotation(v1alpha1.AnnotationInstallation, "own").Condition(ready).Obj()
	running.Status.Version = "v0.4.2"
	foreign := deploymentOf(darkrooms.New("photos", "team-a").UID("2").Obj(), ptr.To(int32(3)), 3, 3)
	for name, test := range map[string]struct {
		objects []client.Object
		last    *probe.Sample
		want    []string
	}{
		"a Darkroom that runs": {
			objects: []client.Object{running, deploymentOf(running, ptr.To(int32(3)), 2, 1)},
			last:    &probe.Sample{Served: true, Duration: 250 * time.Millisecond},
			want: []string{
				`darkroom_info{namespace="team-a",name="photos",version="v0.4.2",source="WebFolder"} 1`,
				`darkroom_probe_duration_seconds{namespace="team-a",name="photos"} 0.25`,
				`darkroom_probe_success{namespace="team-a",name="photos"} 1`,
				`darkroom_rollout_desired_replicas{namespace="team-a",name="photos"} 3`,
				`darkroom_rollout_ready_replicas{namespace="team-a",name="photos"} 1`,
				`darkroom_rollout_updated_replicas{namespace="team-a",name="photos"} 2`,
				`darkroom_status_condition{namespace="team-a",name="photos",type="Ready",status="True"} 1`,
			},
		},
		"a failed probe, and a Deployment of another owner": {
			objects: []client.Object{darkrooms.New("photos", "team-a").UID("1").Obj(), foreign},
			last:    &probe.Sample{Duration: time.Second},
			want: []string{
				`darkroom_info{namespace="team-a",name="photos",version="",source="WebFolder"} 1`,
				`darkroom_probe_duration_seconds{namespace="team-a",name="photos"} 1`,
				`darkroom_probe_success{namespace="team-a",name="photos"} 0`,
			},
		},
		"the requested version, while none is observed": {
			objects: []client.Object{darkrooms.New("cats", "team-b").Version("a\"b\\c\nd").S3("cats", "eu-west-2").Obj()},
			want:    []string{`darkroom_info{namespace="team-b",name="cats",version="a\"b\\c\nd",source="S3"} 1`},
		},
		"a Darkroom of another installation": {
			objects: []client.Object{darkrooms.New("photos", "team-a").
				Annotation(v1alpha1.AnnotationInstallation, "another").Obj()},
			last: &probe.Sample{Served: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			reported := reporting(t, test.objects...)
			if test.last != nil {
				reported.Probe = func(types.NamespacedName) (probe.Sample, bool) { return *test.last, true }
			}
			got := written(t, reported)
			got = slices.DeleteFunc(got, func(sample string) bool { return strings.HasPrefix(sample, namespace) })
			expect.Equal(t, "the metrics", test.want, got, cmpopts.EquateEmpty())
		})
	}
}

// The Leases decide which Darkroom holds a host, as for kubectl, the REST API and plan. The status may be older.
func TestTheHostsOfADarkroomAreThoseWhoseLeasesItHolds(t *testing.T) {
	outdated := darkrooms.New("photos", "team-a").Status(func(status *v1alpha1.DarkroomStatus) {
		status.Domains = []string{"lost.example.com"}
	}).Obj()
	elsewhere := leaseOf("elsewhere.example.com", "team-a/photos")
	elsewhere.Namespace = "default"
	reported := reporting(t, outdated,
		darkrooms.New("photos", "team-b").Annotation(v1alpha1.AnnotationInstallation, "another").Obj(),
		leaseOf("a.example.com", "team-a/photos"), leaseOf("b.example.com", "team-a/photos"), elsewhere,
		leaseOf("theirs.example.com", "team-b/photos"), leaseOf("shard.example.com", "team-c/photos"),
		leaseOf("strange.example.com", "no-slash"))
	want := []string{
		`darkroom_host{namespace="team-a",name="photos",host="a.example.com"} 1`,
		`darkroom_host{namespace="team-a",name="photos",host="b.example.com"} 1`,
	}
	got := slices.DeleteFunc(written(t, reported), func(sample string) bool {
		return !strings.HasPrefix(sample, "darkroom_host{")
	})
	expect.Equal(t, "the hosts", want, got)
}

func TestDarkroomsAreCountedByTheLeader(t *testing.T) {
	of := func(name, installation string, phase v1alpha1.Phase, condition v1alpha1.Condition) *darkrooms.Builder {
		return darkrooms.New(name, "a").Generation(2).Annotation(v1alpha1.AnnotationInstallation,
			installation).Condition(condition).
			Status(func(status *v1alpha1.DarkroomStatus) { status.Phase = phase })
	}
	conflict := v1alpha1.Condition{
		Type: v1alpha1.ConditionDomainsReady, Status: "False",
		Reason: v1alpha1.ReasonDomainConflict,
	}
	missing := v1alpha1.Condition{
		Type: v1alpha1.ConditionCredentialsReady, Status: "False",
		Reason: v1alpha1.ReasonSecretMissing,
	}
	isReady := v1alpha1.Condition{Type: v1alpha1.ConditionReady, Status: "True"}
	reported := reporting(t,
		of("ready", "own", v1alpha1.PhaseReady, isReady).Obj(),
		of("conflict", "own", v1alpha1.PhaseDegraded, conflict).Obj(),
		of("missing", "own", v1alpha1.PhaseDegraded, missing).S3("pictures", "eu-west-2").Obj(),
		darkrooms.New("seen", "b").Obj(),
		of("others", "another", v1alpha1.PhaseReady, isReady).Obj(),
		of("also ready", "own", v1alpha1.PhaseReady, v1alpha1.Condition{}).Obj(),
		of("more of others", "gone", v1alpha1.PhaseReady, isReady).Obj(),
	)
	reported.TotalsOnly = true
	want := []string{
		`darkroom_operator_credentials_missing 1`,
		`darkroom_operator_darkrooms_ready 1`,
		`darkroom_operator_darkrooms{phase="Degraded",source_type="S3"} 1`,
		`darkroom_operator_darkrooms{phase="Degraded",source_type="WebFolder"} 1`,
		`darkroom_operator_darkrooms{phase="Pending",source_type="WebFolder"} 1`,
		`darkroom_operator_darkrooms{phase="Ready",source_type="WebFolder"} 2`,
		`darkroom_operator_domain_conflicts 1`,
		`darkroom_operator_other_installation_darkrooms 2`,
	}
	expect.Equal(t, "the metrics", want, written(t, reported))
	reported.Leads = func() bool { return false }
	if got := written(t, reported); len(got) != 0 {
		t.Errorf("one that stands by reports %v", got)
	}
}

func TestMetricsOfDarkroomsFollowThoseOfTheProcess(t *testing.T) {
	const process = "# HELP process Always 1.\n# TYPE process gauge\nprocess 1\n"
	registry := prometheus.NewRegistry()
	promauto.With(registry).NewGauge(prometheus.GaugeOpts{Name: "process", Help: "Always 1."}).Set(1)
	failing := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, _ := registry.Gather()
		return families, errors.New("failed")
	})
	for name, test := range map[string]struct {
		process          prometheus.Gatherer
		method, encoding string
		code             int
		start            string
		has              bool
	}{
		"plain":                       {process: registry, code: 200, start: process, has: true},
		"as Prometheus asks":          {process: registry, encoding: "gzip", code: 200, start: process, has: true},
		"of a failing process":        {process: failing, code: 500, start: "failed"},
		"of a request for the header": {process: registry, method: http.MethodHead, code: 200},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(test.method, "/metrics", nil)
			request.Header.Set("Accept-Encoding", test.encoding)
			recorder := httptest.NewRecorder()
			reporting(t, darkrooms.New("photos", "team-a").Obj()).Handler(test.process).ServeHTTP(recorder, request)
			body := io.Reader(recorder.Body)
			if test.encoding == "gzip" {
				unzipped, err := gzip.NewReader(body)
				expect.NoError(t, err)
				body = unzipped
			}
			text, err := io.ReadAll(body)
			expect.NoError(t, err)
			if recorder.Code != test.code || !strings.HasPrefix(recorder.Header().Get("Content-Type"), "text/plain;") ||
				!strings.HasPrefix(string(text), test.start) || strings.Contains(string(text), "\ndarkroom_info{") != test.has {
				t.Errorf("HTTP %d, header %v, body:\n%s", recorder.Code, recorder.Header(), text)
			}
		})
	}
}

func TestOperationsAreCounted(t *testing.T) {
	m := New(nil, "1", "2")
	m.Operated(Install, time.Now(), nil)
	m.Operated(Upgrade, time.Now(), errors.New("failed"))
	m.Repaired()
	m.RepairFailed()
	value := func(counter prometheus.Counter) float64 {
		out := &dto.Metric{}
		expect.NoError(t, counter.Write(out))
		return out.GetCounter().GetValue()
	}
	for labels, want := range map[[2]string]float64{
		{Install, success}: 1, {Install, failure}: 0, {Upgrade, success}: 0, {Upgrade, failure}: 1,
		{Repair, success}: 1, {Repair, failure}: 1, {Uninstall, success}: 0, {Uninstall, failure}: 0,
	} {
		if got := value(m.operations.WithLabelValues(labels[:]...)); got != want {
			t.Errorf("operations %q: got %v, want %v", labels, got, want)
		}
	}
	if got := value(m.repairs); got != 1 {
		t.Errorf("%v repairs", got)
	}
}
