package status

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// service returns the Service of the Darkroom photos.
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

// The operator must send requests only to the Darkroom's own pods.
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
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// withProbe sets a probe of /cat.jpg.
func withProbe(builder *darkrooms.Builder) *darkrooms.Builder {
	return builder.Spec(func(s *v1alpha1.DarkroomSpec) { s.Probe = &v1alpha1.Probe{Path: "/cat.jpg"} })
}

// probed sets the result of the prober, for the serving pods or for a starting one.
func probed(starting string, status metav1.ConditionStatus, reason, message string) func(*Observation) {
	return func(o *Observation) {
		o.Probe = &probe.Result{Status: status, Outcome: probe.Outcome{Reason: reason, Message: message}}
		o.Starting.Name = starting
	}
}

// TestSourceReady checks the condition SourceReady and its effect on the condition Ready.
func TestSourceReady(t *testing.T) {
	const (
		image        = "GET /cat.jpg?w=16 is served as image/jpeg."
		forbidden    = "GET /cat.jpg?w=16: HTTP 403. Check the keys."
		newPods      = "New pods do not serve the image of spec.probe, and the ready pods keep serving. " + forbidden
		allPods      = "The pods do not serve the image of spec.probe. " + forbidden
		waitsForPods = "Probes start when the change is rolled out and a pod is ready."
		waitsForIP   = "Probes start when the Service selects the pods of the Darkroom."
		notChecked   = "Images are not checked: set spec.probe.path to the path of an image, for example /photos/cat.jpg."
	)
	served, denied := probed("", yes, v1alpha1.ReasonImageServed, image),
		probed("", no, v1alpha1.ReasonSourceDenied, forbidden)
	awaited := probed("", unknown, "", "")
	newServes, newFails := probed("photos-2", yes, v1alpha1.ReasonImageServed, image),
		probed("photos-2", no, v1alpha1.ReasonSourceDenied, forbidden)
	noService := func(o *Observation) { o.Service = nil }
	photosWithProbe := withProbe(photos())
	known := v1alpha1.Condition{
		Type: v1alpha1.ConditionSourceReady, Status: yes, Reason: v1alpha1.ReasonImageServed,
		Message: image, ObservedGeneration: 2,
	}
	rollingOut := deployment(2, pods(3, 1, 2, 2))
	for name, test := range map[string]struct {
		observation     Observation
		status          metav1.ConditionStatus
		reason, message string
		ready           verdict
	}{
		"without a probe, Ready does not depend on the source": {
			seen(photos(), deployment(2), awaited), unknown, v1alpha1.ReasonNoProbe, notChecked, ready(""),
		},
		"with probes disabled, Ready does not depend on the source": {
			seen(photosWithProbe, deployment(2)), unknown, v1alpha1.ReasonProbeOff,
			"The operator runs with --probe-via=off, so only the startup probe of new pods requests the image of spec.probe.", ready(""),
		},
		"no image is served": {
			seen(photosWithProbe, deployment(2), denied), no, v1alpha1.ReasonSourceDenied, forbidden,
			degraded(v1alpha1.ReasonSourceDenied, forbidden),
		},
		"a restarted operator keeps the previous result": {
			seen(withProbe(photos().Condition(known)), deployment(2), awaited), yes,
			v1alpha1.ReasonImageServed, image, ready(""),
		},
		"the Service selects other pods": {
			seen(photosWithProbe, deployment(2), served, noService), unknown, v1alpha1.ReasonProbePending, waitsForIP,
			verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonProbePending, waitsForIP},
		},
		"results of old pods do not count for new ones": {
			seen(photosWithProbe, rollingOut, served), unknown, v1alpha1.ReasonProbePending, waitsForPods,
			deploying("Rolling out: 2 of 2 pods are ready."),
		},
		"new pods do not serve the image": {
			seen(photosWithProbe, rollingOut, newFails), no, v1alpha1.ReasonNewPodsNotServing, newPods,
			degraded(v1alpha1.ReasonSourceDenied, newPods),
		},
		"new pods serve the image, and are not ready yet": {
			seen(photosWithProbe, rollingOut, newServes), yes, v1alpha1.ReasonImageServed, image,
			deploying("Rolling out: 2 of 2 pods are ready."),
		},
		"no pod serves the image": {
			seen(photosWithProbe, deployment(2, pods(2, 2, 0, 0)), newFails), no, v1alpha1.ReasonSourceDenied, allPods,
			degraded(v1alpha1.ReasonSourceDenied, allPods),
		},
		"scaled to zero": {
			seen(withProbe(photos().Replicas(0)), deployment(0), denied), unknown, v1alpha1.ReasonScaledToZero,
			"Scaled to zero: there is no pod to request an image from.",
			verdict{v1alpha1.PhaseIdle, yes, v1alpha1.ReasonScaledToZero, ""},
		},
		"the Deployment is outdated": {
			seen(photosWithProbe, deployment(2), served, outdated), unknown, v1alpha1.ReasonProbePending,
			waitsForPods, deploying(""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := Determine(test.observation)
			want := &v1alpha1.Condition{
				Type: v1alpha1.ConditionSourceReady, Status: test.status, Reason: test.reason,
				Message: test.message, ObservedGeneration: 2,
			}
			expect.Equal(t, "SourceReady", want, v1alpha1.FindCondition(report.Conditions, v1alpha1.ConditionSourceReady))
			compareVerdict(t, test.ready, report)
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
	expect.Equal(t, "the target", want, targetOf(darkroom, first))
	if targetOf(darkroom, scaled) != want {
		t.Error("adding pods changed the target")
	}
	for name, other := range map[string]*appsv1.Deployment{"another template": rolled, "another Deployment": recreated} {
		if targetOf(darkroom, other).Revision == want.Revision {
			t.Errorf("%s did not change the revision", name)
		}
	}
}

// sourceStub records the probe targets.
type sourceStub map[types.NamespacedName]probe.Target

func (s sourceStub) Set(key types.NamespacedName, target probe.Target) { s[key] = target }
func (s sourceStub) Remove(key types.NamespacedName)                   { delete(s, key) }
func (s sourceStub) Result(types.NamespacedName) probe.Result {
	return probe.Result{Status: metav1.ConditionUnknown}
}

func TestOnlyDarkroomsThatCanBeJudgedAreProbed(t *testing.T) {
	key := types.NamespacedName{Namespace: "team-a", Name: "photos"}
	// A pod that does not become ready is probed instead of the Service.
	starting := func(o *Observation) { o.Starting.Name = "photos-2" }
	for name, test := range map[string]struct {
		observation Observation
		path, pod   string // of the probe target
	}{
		"rolled out":           {seen(withProbe(photos()), deployment(2)), "/cat.jpg", ""},
		"one pod of two ready": {seen(withProbe(photos()), deployment(2, pods(2, 2, 1, 1))), "/cat.jpg", ""},
		"a new pod not ready": {
			seen(withProbe(photos()), deployment(2, pods(3, 1, 2, 2)), starting),
			"/cat.jpg", "photos-2",
		},
		"no probe":               {seen(photos(), deployment(2)), "", ""},
		"old pods remain":        {seen(withProbe(photos()), deployment(2, pods(3, 1, 2, 2))), "", ""},
		"scaled to zero":         {seen(withProbe(photos()), deployment(0)), "", ""},
		"not installed":          {seen(withProbe(photos()), nil), "", ""},
		"being deleted":          {seen(withProbe(photos()).Deleting(metav1.NewTime(noon)), deployment(2)), "", ""},
		"an outdated Deployment": {seen(withProbe(photos()), deployment(2), outdated), "/before.jpg", "before"},
	} {
		source := sourceStub{key: {Path: "/before.jpg", Pod: probe.Pod{Name: "before"}}}
		reconciler := &Reconciler{Prober: source}
		if reconciler.probe(test.observation) == nil {
			t.Errorf("%s: got no result", name)
		}
		if got := source[key]; got.Path != test.path || got.Pod.Name != test.pod {
			t.Errorf("%s: probed %+v, want path %q of pod %q", name, got, test.path, test.pod)
		}
	}
}

func TestDarkroomsThatAreGoneOrOfOthersAreNoLongerProbed(t *testing.T) {
	key := types.NamespacedName{Namespace: "team-a", Name: "photos"}
	for name, objects := range map[string][]client.Object{"gone": nil, "of others": {withProbe(photos()).Obj()}} {
		source := sourceStub{key: {}}
		reconciler := reconcilerOfOthers(t, objects...)
		reconciler.Prober = source
		if _, err := reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(source) != 0 {
			t.Errorf("%s: still probed", name)
		}
	}
}

func TestCredentialsOfAReferencedSecret(t *testing.T) {
	reference := darkrooms.New("photos", "team-a").S3("pictures", "eu-west-2").CredentialsSecret("keys").Obj()
	google := darkrooms.New("photos", "team-a").GoogleCloudStorage("pictures").CredentialsSecret("keys").Obj()
	kubelet := func(message string) *Problem { return &Problem{v1alpha1.ReasonPodsFailing, "Pod photos-1: " + message} }
	for name, test := range map[string]struct {
		darkroom         *v1alpha1.Darkroom
		found            bool
		problem          *Problem
		reason, mentions string
	}{
		"exists":           {reference, true, nil, v1alpha1.ReasonSecretFound, "keys"},
		"missing":          {reference, false, nil, v1alpha1.ReasonSecretMissing, `the keys "accessKey" and "secretKey"`},
		"missing, one key": {google, false, nil, v1alpha1.ReasonSecretMissing, `the key "credentials.json"`},
		"without a key": {
			reference, true, kubelet("couldn't find key secretKey in Secret team-a/keys"),
			v1alpha1.ReasonSecretKeyMissing, `"secretKey"`,
		},
		"another Secret without a key": {
			reference, true, kubelet("couldn't find key secretKey in Secret team-a/others"), v1alpha1.ReasonSecretFound, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			observed := Observation{Darkroom: test.darkroom, Problem: test.problem}
			if !test.found {
				observed.MissingSecrets = []string{"keys"}
			}
			got := determineCredentials(observed)
			if got == nil || got.Reason != test.reason || !strings.Contains(got.Message, test.mentions) {
				t.Fatalf("got %+v", got)
			}
			if (got.Status == metav1.ConditionTrue) != (test.reason == v1alpha1.ReasonSecretFound) {
				t.Errorf("got status %s", got.Status)
			}
		})
	}
	if got := determineCredentials(Observation{Darkroom: darkrooms.New("photos", "team-a").Obj()}); got != nil {
		t.Errorf("without a reference: got %+v, want none", got)
	}
}
