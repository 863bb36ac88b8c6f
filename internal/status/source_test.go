package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// service is that of photos.
func service(changes ...func(*corev1.ServiceSpec)) *corev1.Service {
	out := &corev1.Service{Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.9", Ports: []corev1.ServicePort{{Name: "http", Port: 80}},
		Selector: deployment(2).Spec.Selector.MatchLabels,
	}}
	for _, change := range changes {
		change(&out.Spec)
	}
	return out
}

// Requests of the operator go only where its own pods are.
func TestTheAddressOfAServiceThatOthersChangedIsNotUsed(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.ServiceSpec)
		want   string
	}{
		"as applied":    {func(*corev1.ServiceSpec) {}, "10.0.0.9:80"},
		"IPv6":          {func(s *corev1.ServiceSpec) { s.ClusterIP = "fd00::9" }, "[fd00::9]:80"},
		"of a balancer": {func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeLoadBalancer }, "10.0.0.9:80"},
		"ExternalName": {func(s *corev1.ServiceSpec) {
			s.Type, s.ExternalName = corev1.ServiceTypeExternalName, "internal.example.com"
		}, ""},
		"headless":          {func(s *corev1.ServiceSpec) { s.ClusterIP = corev1.ClusterIPNone }, ""},
		"no address yet":    {func(s *corev1.ServiceSpec) { s.ClusterIP = "" }, ""},
		"no selector":       {func(s *corev1.ServiceSpec) { s.Selector = nil }, ""},
		"pods of others":    {func(s *corev1.ServiceSpec) { s.Selector = map[string]string{"app": "other"} }, ""},
		"without any ports": {func(s *corev1.ServiceSpec) { s.Ports = nil }, ""},
	} {
		o := Observation{Darkroom: withProbe(photos()).Obj(), Deployment: deployment(2), Service: service(test.change)}
		if got := addressOf(o); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// withProbe sets a probe of /cat.jpg.
func withProbe(builder *darkrooms.Builder) *darkrooms.Builder {
	return builder.Spec(func(s *v1alpha1.DarkroomSpec) { s.Probe = &v1alpha1.Probe{Path: "/cat.jpg"} })
}

// found is what the prober says of a Darkroom.
func found(status metav1.ConditionStatus, reason, message string) *probe.Result {
	return &probe.Result{Status: status, Outcome: probe.Outcome{Reason: reason, Message: message}}
}

// TestSourceReady has the condition, and what it makes of the Ready of a Darkroom
// whose pods and domains are as the observation says.
func TestSourceReady(t *testing.T) {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	var (
		served   = found(yes, v1alpha1.ReasonImageServed, "GET /cat.jpg?w=16 is served as image/jpeg.")
		denied   = found(no, v1alpha1.ReasonSourceDenied, "GET /cat.jpg?w=16: HTTP 403. Check the keys.")
		pending  = &probe.Result{Status: unknown}
		starting = probe.Pod{Name: "photos-2", IP: "10.0.0.7", Port: "3000"}
	)
	const waitsForPods = "Images are requested as soon as the change is rolled out and a pod is ready."
	allReady := verdict{v1alpha1.PhaseReady, yes, v1alpha1.ReasonAllReplicasReady, "2 of 2 pods are ready."}
	for name, test := range map[string]struct {
		darkroom   *darkrooms.Builder
		deployment *appsv1.Deployment
		probe      *probe.Result
		starting   probe.Pod
		unseen     bool
		noService  bool
		before     *v1alpha1.Condition
		status     metav1.ConditionStatus
		reason     string
		message    string
		ready      verdict
	}{
		"without a probe Ready means what it always did": {
			darkroom: photos(), deployment: deployment(2), probe: pending,
			status: unknown, reason: v1alpha1.ReasonNoProbe,
			message: "Whether images are served is not checked: set spec.probe.path to the path of an image, for example /photos/cat.jpg.",
			ready:   allReady,
		},
		"so it does where probes are turned off": {
			darkroom: withProbe(photos()), deployment: deployment(2),
			status: unknown, reason: v1alpha1.ReasonProbeOff, message: "The operator runs with --probe-via=off: only new pods have to serve the image of spec.probe.",
			ready: allReady,
		},
		"no image is served": {
			darkroom: withProbe(photos()), deployment: deployment(2), probe: denied,
			status: no, reason: v1alpha1.ReasonSourceDenied, message: "GET /cat.jpg?w=16: HTTP 403. Check the keys.",
			ready: verdict{v1alpha1.PhaseDegraded, no, v1alpha1.ReasonSourceDenied, "GET /cat.jpg?w=16: HTTP 403. Check the keys."},
		},
		"an operator that was restarted knows what its predecessor found": {
			darkroom: withProbe(photos()), deployment: deployment(2), probe: pending,
			before: &v1alpha1.Condition{Type: v1alpha1.ConditionSourceReady, Status: yes, Reason: v1alpha1.ReasonImageServed, Message: "served", ObservedGeneration: 2},
			status: yes, reason: v1alpha1.ReasonImageServed, message: "served",
			ready: allReady,
		},
		"the Service leads elsewhere": {
			darkroom: withProbe(photos()), deployment: deployment(2), probe: served, noService: true,
			status: unknown, reason: v1alpha1.ReasonProbePending, message: "Images are requested as soon as the Service selects the pods of the Darkroom.",
			ready: verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonProbePending, "Images are requested as soon as the Service selects the pods of the Darkroom."},
		},
		"what old pods serve says nothing of the new ones": {
			darkroom: withProbe(photos()), deployment: deployment(2, pods(3, 1, 2, 2)), probe: served,
			status: unknown, reason: v1alpha1.ReasonProbePending, message: waitsForPods,
			ready: verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonDeploying, "Rolling out: 2 of 2 pods are ready."},
		},
		"new pods do not serve the image": {
			darkroom: withProbe(photos()), deployment: deployment(2, pods(3, 1, 2, 2)), probe: denied, starting: starting,
			status: no, reason: v1alpha1.ReasonSourceDenied, message: "New pods do not serve the image of spec.probe, and the ready pods keep serving. GET /cat.jpg?w=16: HTTP 403. Check the keys.",
			ready: verdict{
				v1alpha1.PhaseDegraded, no, v1alpha1.ReasonSourceDenied,
				"New pods do not serve the image of spec.probe, and the ready pods keep serving. GET /cat.jpg?w=16: HTTP 403. Check the keys.",
			},
		},
		"new pods serve the image, and are not ready yet": {
			darkroom: withProbe(photos()), deployment: deployment(2, pods(3, 1, 2, 2)), probe: served, starting: starting,
			status: yes, reason: v1alpha1.ReasonImageServed, message: "GET /cat.jpg?w=16 is served as image/jpeg.",
			ready: verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonDeploying, "Rolling out: 2 of 2 pods are ready."},
		},
		"no pod serves the image": {
			darkroom: withProbe(photos()), deployment: deployment(2, pods(2, 2, 0, 0)), probe: denied, starting: starting,
			status: no, reason: v1alpha1.ReasonSourceDenied, message: "The pods do not serve the image of spec.probe. GET /cat.jpg?w=16: HTTP 403. Check the keys.",
			ready: verdict{
				v1alpha1.PhaseDegraded, no, v1alpha1.ReasonSourceDenied,
				"The pods do not serve the image of spec.probe. GET /cat.jpg?w=16: HTTP 403. Check the keys.",
			},
		},
		"scaled to zero": {
			darkroom:   withProbe(photos()).Spec(func(s *v1alpha1.DarkroomSpec) { s.Replicas = ptr.To[int32](0) }),
			deployment: deployment(0), probe: denied,
			status: unknown, reason: v1alpha1.ReasonScaledToZero, message: "Scaled to zero: there is no pod to request an image from.",
			ready: verdict{v1alpha1.PhaseIdle, yes, v1alpha1.ReasonScaledToZero, ""},
		},
		"the Deployment is that of the past": {
			darkroom: withProbe(photos()), deployment: deployment(2), probe: served, unseen: true,
			status: unknown, reason: v1alpha1.ReasonProbePending, message: waitsForPods,
			ready: verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonDeploying, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			darkroom := test.darkroom.Obj()
			if test.before != nil {
				darkroom.Status.Conditions = append(darkroom.Status.Conditions, *test.before)
			}
			o := Observation{
				Darkroom: darkroom, Deployment: test.deployment, Service: service(), Probe: test.probe, Starting: test.starting, Unseen: test.unseen,
				Hosts: []string{host}, Ingress: ingress(host),
			}
			if test.noService {
				o.Service = nil
			}
			report := Determine(o)
			want := &v1alpha1.Condition{
				Type: v1alpha1.ConditionSourceReady, Status: test.status, Reason: test.reason, Message: test.message, ObservedGeneration: 2,
			}
			if diff := cmp.Diff(want, v1alpha1.FindCondition(report.Conditions, v1alpha1.ConditionSourceReady)); diff != "" {
				t.Errorf("SourceReady (-want +got):\n%s", diff)
			}
			ready := v1alpha1.FindCondition(report.Conditions, v1alpha1.ConditionReady)
			compareVerdict(t, test.ready, verdict{report.Phase, ready.Status, ready.Reason, ready.Message})
		})
	}
}

func TestTheTargetOfAProbeFollowsThePods(t *testing.T) {
	first := deployment(2)
	first.UID, first.Annotations = "a", map[string]string{revisionAnnotation: "1"}
	scaled := first.DeepCopy()
	scaled.Generation++
	rolled := first.DeepCopy()
	rolled.Annotations[revisionAnnotation] = "2"
	recreated := first.DeepCopy()
	recreated.UID = "b"

	darkroom := withProbe(photos()).Obj()
	want := probe.Target{
		Path: "/cat.jpg", Source: v1alpha1.WebFolder, Period: time.Minute, Timeout: 10 * time.Second,
		FailureThreshold: 3, Revision: "a/1", Address: "10.0.0.9:80",
	}
	targetOf := func(darkroom *v1alpha1.Darkroom, deployment *appsv1.Deployment) probe.Target {
		return targetOf(Observation{Darkroom: darkroom, Deployment: deployment, Service: service()})
	}
	if diff := cmp.Diff(want, targetOf(darkroom, first)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if targetOf(darkroom, scaled) != want {
		t.Error("an autoscaler that adds pods makes another target")
	}
	for name, other := range map[string]*appsv1.Deployment{"another template": rolled, "another Deployment": recreated} {
		if targetOf(darkroom, other).Revision == want.Revision {
			t.Errorf("%s is the same revision", name)
		}
	}
}

// sourceStub remembers what is probed.
type sourceStub map[types.NamespacedName]probe.Target

func (s sourceStub) Set(key types.NamespacedName, target probe.Target) { s[key] = target }
func (s sourceStub) Remove(key types.NamespacedName)                   { delete(s, key) }
func (s sourceStub) Result(types.NamespacedName) probe.Result {
	return probe.Result{Status: metav1.ConditionUnknown}
}

func TestOnlyDarkroomsThatCanBeJudgedAreProbed(t *testing.T) {
	key := types.NamespacedName{Namespace: "team-a", Name: "photos"}
	for name, test := range map[string]struct {
		darkroom   *darkrooms.Builder
		deployment *appsv1.Deployment
		unseen     bool
		want       string // the path that is probed
	}{
		"rolled out":           {withProbe(photos()), deployment(2), false, "/cat.jpg"},
		"one pod of two ready": {withProbe(photos()), deployment(2, pods(2, 2, 1, 1)), false, "/cat.jpg"},
		"no probe":             {photos(), deployment(2), false, ""},
		"old pods are left":    {withProbe(photos()), deployment(2, pods(3, 1, 2, 2)), false, ""},
		"scaled to zero":       {withProbe(photos()), deployment(0), false, ""},
		"not installed":        {withProbe(photos()), nil, false, ""},
		"being deleted":        {withProbe(photos()).Deleting(metav1.NewTime(noon)), deployment(2), false, ""},
		"of the past":          {withProbe(photos()), deployment(2), true, "/before.jpg"},
	} {
		source := sourceStub{key: {Path: "/before.jpg"}}
		reconciler := &Reconciler{Reports: &Reports{}, Source: source}
		if reconciler.probe(Observation{Darkroom: test.darkroom.Obj(), Deployment: test.deployment, Service: service(), Unseen: test.unseen}) == nil {
			t.Errorf("%s: there is no result", name)
		}
		if got := source[key].Path; got != test.want {
			t.Errorf("%s: %q is probed, want %q", name, got, test.want)
		}
	}
}

func TestAPodThatDoesNotBecomeReadyIsProbedInPlaceOfTheService(t *testing.T) {
	key := types.NamespacedName{Namespace: "team-a", Name: "photos"}
	source := sourceStub{}
	reconciler := &Reconciler{Reports: &Reports{}, Source: source}
	rollingOut := Observation{Darkroom: withProbe(photos()).Obj(), Deployment: deployment(2, pods(3, 1, 2, 2)), Starting: probe.Pod{Name: "photos-2"}}
	reconciler.probe(rollingOut)
	if got := source[key]; got.Pod.Name != "photos-2" || got.Path != "/cat.jpg" {
		t.Errorf("%+v is probed", got)
	}
	rolledOut := rollingOut
	rolledOut.Deployment, rolledOut.Service, rolledOut.Starting = deployment(2), service(), probe.Pod{}
	reconciler.probe(rolledOut)
	if got := source[key]; got.Pod != (probe.Pod{}) || got.Path != "/cat.jpg" {
		t.Errorf("%+v is probed after the rollout", got)
	}
}

func TestDarkroomsThatAreGoneOrOfOthersAreNoLongerProbed(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	key := types.NamespacedName{Namespace: "team-a", Name: "photos"}
	for name, reader := range map[string]client.Client{
		"gone":      fake.NewClientBuilder().WithScheme(scheme).Build(),
		"of others": fake.NewClientBuilder().WithScheme(scheme).WithObjects(withProbe(photos()).Obj()).Build(),
	} {
		source := sourceStub{key: {}}
		reconciler := &Reconciler{Reports: &Reports{}, Client: reader, Source: source, Handles: func(*v1alpha1.Darkroom) bool { return false }}
		if _, err := reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(source) != 0 {
			t.Errorf("%s: still probed", name)
		}
	}
}
