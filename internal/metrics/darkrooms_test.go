package metrics

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
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

// perDarkroom returns the metrics of Darkrooms: name and labels → value. It fails the test
// unless they are what a registry would accept.
func perDarkroom(t *testing.T, d *Darkrooms) map[string]float64 {
	t.Helper()
	var written bytes.Buffer
	if err := d.Write(t.Context(), &written); err != nil {
		t.Fatal(err)
	}
	checked, err := prometheus.Gatherers{prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return parse(t, written.Bytes()), nil
	})}.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return flatten(checked)
}

// parse returns the families of a response. Those without a metric are left out.
func parse(t *testing.T, response []byte) []*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	parsed, err := parser.TextToMetricFamilies(bytes.NewReader(response))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, response)
	}
	var out []*dto.MetricFamily
	for _, family := range parsed {
		if len(family.GetMetric()) > 0 {
			out = append(out, family)
		}
	}
	return out
}

func TestEachDarkroomIsReported(t *testing.T) {
	ready := v1alpha1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}
	notReady := v1alpha1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse}
	stalled := v1alpha1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue}
	photos := darkrooms.New("photos", "team-a").UID("1").Annotation(v1alpha1.AnnotationInstallation, "own").Condition(ready)
	running := photos.Obj()
	running.Status.Version = "v0.4.2"
	foreign := deploymentOf(darkrooms.New("photos", "team-a").UID("2").Obj(), ptr.To(int32(3)), 3, 3)
	probed := func(last probe.Sample) func(types.NamespacedName) (probe.Sample, bool) {
		return func(key types.NamespacedName) (probe.Sample, bool) {
			return last, key == types.NamespacedName{Namespace: "team-a", Name: "photos"}
		}
	}
	for _, test := range []struct {
		name    string
		objects []client.Object
		probe   func(types.NamespacedName) (probe.Sample, bool)
		standby bool
		want    map[string]float64
	}{
		{
			name:    "a Darkroom that runs",
			objects: []client.Object{running, deploymentOf(running, ptr.To(int32(3)), 2, 1)},
			probe:   probed(probe.Sample{Served: true, Duration: 250 * time.Millisecond}),
			want: map[string]float64{
				"darkroom_info name=photos namespace=team-a source=WebFolder version=v0.4.2":    1,
				"darkroom_status_condition name=photos namespace=team-a status=True type=Ready": 1,
				"darkroom_rollout_desired_replicas name=photos namespace=team-a":                3,
				"darkroom_rollout_updated_replicas name=photos namespace=team-a":                2,
				"darkroom_rollout_ready_replicas name=photos namespace=team-a":                  1,
				"darkroom_probe_success name=photos namespace=team-a":                           1,
				"darkroom_probe_duration_seconds name=photos namespace=team-a":                  0.25,
			},
		},
		{
			name:    "each condition has its present status only",
			objects: []client.Object{photos.Condition(notReady).Condition(stalled).Obj()},
			want: map[string]float64{
				"darkroom_info name=photos namespace=team-a source=WebFolder version=":            1,
				"darkroom_status_condition name=photos namespace=team-a status=False type=Ready":  1,
				"darkroom_status_condition name=photos namespace=team-a status=True type=Stalled": 1,
			},
		},
		{
			name:    "a failed probe",
			objects: []client.Object{darkrooms.New("photos", "team-a").Obj()},
			probe:   probed(probe.Sample{Duration: time.Second}),
			want: map[string]float64{
				"darkroom_info name=photos namespace=team-a source=WebFolder version=": 1,
				"darkroom_probe_success name=photos namespace=team-a":                  0,
				"darkroom_probe_duration_seconds name=photos namespace=team-a":         1,
			},
		},
		{
			name:    "the requested version, while none is observed",
			objects: []client.Object{darkrooms.New("cats", "team-b").Version("v1").S3("cats", "eu-west-2").Obj()},
			probe:   probed(probe.Sample{}),
			want:    map[string]float64{"darkroom_info name=cats namespace=team-b source=S3 version=v1": 1},
		},
		{
			name:    "a Deployment of another owner",
			objects: []client.Object{darkrooms.New("photos", "team-a").UID("1").Obj(), foreign},
			want:    map[string]float64{"darkroom_info name=photos namespace=team-a source=WebFolder version=": 1},
		},
		{
			name:    "a Deployment without a number of replicas",
			objects: []client.Object{running, deploymentOf(running, nil, 0, 0)},
			want: map[string]float64{
				"darkroom_info name=photos namespace=team-a source=WebFolder version=v0.4.2":    1,
				"darkroom_status_condition name=photos namespace=team-a status=True type=Ready": 1,
				"darkroom_rollout_desired_replicas name=photos namespace=team-a":                1,
				"darkroom_rollout_updated_replicas name=photos namespace=team-a":                0,
				"darkroom_rollout_ready_replicas name=photos namespace=team-a":                  0,
			},
		},
		{
			name:    "a Darkroom of another installation",
			objects: []client.Object{darkrooms.New("photos", "team-a").Annotation(v1alpha1.AnnotationInstallation, "another").Obj()},
			probe:   probed(probe.Sample{Served: true}),
			want:    map[string]float64{},
		},
		{
			name: "a manager that stands by", standby: true,
			objects: []client.Object{running},
			want:    map[string]float64{},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			reported := &Darkrooms{
				Cache:        fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(test.objects...).Build(),
				Leads:        func() bool { return !test.standby },
				Installation: "own",
				Probe:        test.probe,
			}
			if diff := cmp.Diff(test.want, perDarkroom(t, reported)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestValuesOfLabelsAreEscaped(t *testing.T) {
	darkroom := darkrooms.New("photos", "team-a").Version("a\"b\\c\nd").Obj()
	reported := &Darkrooms{
		Cache: fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(darkroom).Build(),
		Leads: func() bool { return true },
	}
	want := map[string]float64{"darkroom_info name=photos namespace=team-a source=WebFolder version=a\"b\\c\nd": 1}
	if diff := cmp.Diff(want, perDarkroom(t, reported)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAScraperThatGoesAwayIsReported(t *testing.T) {
	reported := &Darkrooms{
		Cache: fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(darkrooms.New("photos", "team-a").Obj()).Build(),
		Leads: func() bool { return true },
	}
	if err := reported.Write(t.Context(), closed{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got the error %v", err)
	}
}

// closed is a connection that was closed.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
