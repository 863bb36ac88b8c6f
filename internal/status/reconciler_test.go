package status

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

var photosKey = types.NamespacedName{Namespace: "team-a", Name: "photos"}

// bench contains a reconciler with cached objects, and records what the reconciler does.
type bench struct {
	*Reconciler

	clock *clocktesting.FakePassiveClock
	// wrote lists the field managers of its status writes, and events the reasons of its events.
	wrote, events []string
	// read lists the objects that it read from the API server.
	read []string
	// failure is the error returned for its writes.
	failure error
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	expect.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme),
		gatewayv1.Install(scheme)))
	b := &bench{clock: clocktesting.NewFakePassiveClock(noon)}
	kube := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.Darkroom{}).Build(), interceptor.Funcs{
		SubResourceApply: func(ctx context.Context, kube client.Client, part string, configuration runtime.ApplyConfiguration,
			options ...client.SubResourceApplyOption,
		) error {
			applied := &client.SubResourceApplyOptions{}
			applied.ApplyOpts(options)
			b.wrote = append(b.wrote, applied.FieldManager)
			if b.failure != nil {
				return b.failure
			}
			keepHelmReport(ctx, kube, configuration)
			return kube.SubResource(part).Apply(ctx, configuration, options...)
		},
	})
	live := interceptor.NewClient(kube, interceptor.Funcs{
		Get: func(ctx context.Context, kube client.WithWatch, key client.ObjectKey, object client.Object,
			options ...client.GetOption,
		) error {
			b.read = append(b.read, key.Name)
			return kube.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, kube client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			b.read = append(b.read, "list")
			return kube.List(ctx, list, options...)
		},
	})
	b.Reconciler = &Reconciler{
		Client: kube, Uncached: live, Clock: b.clock,
		Handles:  func(*v1alpha1.Darkroom) bool { return true },
		Refusals: func(context.Context, *v1alpha1.Darkroom) ([]hosts.Refusal, error) { return nil, nil },
		FindSecret: func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
			return nil, nil //nolint:nilnil // not found
		},
		Event:      func(_ *v1alpha1.Darkroom, _ bool, reason, _ string) { b.events = append(b.events, reason) },
		BaseDomain: func(*v1alpha1.Darkroom) string { return "darkroom.example.com" },
		Hosts:      func(*v1alpha1.Darkroom) []string { return []string{host} },
		Routes:     func() bool { return true },
	}
	return b
}

// keepHelmReport adds the Helm controller's report to an applied status, because the fake client replaces all
// conditions at once.
func keepHelmReport(ctx context.Context, kube client.Client, applied runtime.ApplyConfiguration) {
	fields, isFields := applied.(interface{ UnstructuredContent() map[string]any })
	stored := &v1alpha1.Darkroom{}
	if !isFields || kube.Get(ctx, photosKey, stored) != nil {
		return
	}
	report, err := runtime.DefaultUnstructuredConverter.ToUnstructured(ptr.To(HelmReportOf(stored.Status)))
	status, isStatus := fields.UnstructuredContent()["status"].(map[string]any)
	if err != nil || !isStatus {
		return
	}
	own, _ := status["conditions"].([]any)
	helms, _ := report["conditions"].([]any)
	status["conditions"] = slices.Concat(helms, own)
	if release, found := report["deployedRelease"]; found {
		status["deployedRelease"] = release
	}
}

// reconcile reconciles the Darkroom photos.
func (b *bench) reconcile(t *testing.T) (again time.Duration, status v1alpha1.DarkroomStatus) {
	t.Helper()
	result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: photosKey})
	expect.NoError(t, err)
	darkroom := &v1alpha1.Darkroom{}
	expect.NoError(t, client.IgnoreNotFound(b.Client.Get(t.Context(), photosKey, darkroom)))
	return result.RequeueAfter, darkroom.Status
}

// ofPhotos makes the Darkroom photos the owner of an object and gives the object its name.
func ofPhotos[T client.Object](object T) T {
	object.SetNamespace(photosKey.Namespace)
	object.SetName(photosKey.Name)
	object.SetOwnerReferences([]metav1.OwnerReference{
		*metav1.NewControllerRef(&v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Name: "photos", UID: "0c5f"}},
			v1alpha1.GroupVersionKind),
	})
	return object
}

func storedPhotos(changes ...func(*v1alpha1.Darkroom)) *v1alpha1.Darkroom {
	darkroom := photos().UID("0c5f").Obj()
	for _, change := range changes {
		change(darkroom)
	}
	return darkroom
}

func TestAStatusIsWrittenOnceAndAConflictReportedOnce(t *testing.T) {
	b := newBench(t, storedPhotos(), ofPhotos(deployment(2)), ofPhotos(ingress(host)))
	again, status := b.reconcile(t)
	if again != 0 || status.Phase != v1alpha1.PhaseReady || !slices.Equal(status.Domains, []string{host}) {
		t.Fatalf("got requeue after %s with status %+v", again, status)
	}
	b.reconcile(t)
	expect.Equal(t, "the writes", []string{FieldManager}, b.wrote)

	b.Refusals = func(context.Context, *v1alpha1.Darkroom) ([]hosts.Refusal, error) {
		return []hosts.Refusal{{Host: host, Holder: types.NamespacedName{Namespace: "team-a", Name: "older"}}}, nil
	}
	b.reconcile(t)
	b.reconcile(t)
	expect.Equal(t, "the writes", []string{FieldManager, FieldManager}, b.wrote)
	expect.Equal(t, "the events", []string{EventDomainConflict}, b.events)
}

// Foreign objects with the Darkroom's name are ignored.
func TestOnlyOwnObjectsAreObserved(t *testing.T) {
	foreign := deployment(2)
	b := newBench(t, storedPhotos(), foreign, ofPhotos(ingress(host)))
	if _, status := b.reconcile(t); status.Phase == v1alpha1.PhaseReady || status.ReadyReplicas != 0 {
		t.Errorf("got phase %s with %d ready pods of a foreign Deployment", status.Phase, status.ReadyReplicas)
	}
}

func TestAServiceIsReadOnlyOfADarkroomThatIsProbed(t *testing.T) {
	withProbe := func(d *v1alpha1.Darkroom) { d.Spec.Probe = &v1alpha1.Probe{Path: "/cat.jpg"} }
	objects := func(darkroom *v1alpha1.Darkroom) []client.Object {
		return []client.Object{darkroom, ofPhotos(deployment(2)), ofPhotos(ingress(host)), ofPhotos(service())}
	}
	for name, test := range map[string]struct {
		darkroom *v1alpha1.Darkroom
		isOff    bool
		probed   string
	}{
		"with a probe":      {darkroom: storedPhotos(withProbe), probed: "10.0.0.9:80"},
		"probes are off":    {darkroom: storedPhotos(withProbe), isOff: true},
		"without any probe": {darkroom: storedPhotos()},
	} {
		t.Run(name, func(t *testing.T) {
			b, source := newBench(t, objects(test.darkroom)...), sourceStub{}
			if !test.isOff {
				b.Prober = source
			}
			b.reconcile(t)
			if (len(b.read) > 0) != (test.probed != "") || source[photosKey].Address != test.probed {
				t.Errorf("read from the API server: %v, probed: %q", b.read, source[photosKey].Address)
			}
		})
	}
}

// Ready must not be derived from a Deployment from before the last apply.
func TestADeploymentOfThePastIsNotJudged(t *testing.T) {
	const uid = types.UID("d1")
	for name, test := range map[string]struct {
		applied *v1alpha1.DeployedRelease
		phase   v1alpha1.Phase
	}{
		"the applied Deployment":         {releaseWith(uid, 5), v1alpha1.PhaseReady},
		"changed since the apply":        {releaseWith(uid, 4), v1alpha1.PhaseReady},
		"from before the apply":          {releaseWith(uid, 6), v1alpha1.PhaseDeploying},
		"a replaced Deployment":          {releaseWith("d0", 1), v1alpha1.PhaseDeploying},
		"applied by an earlier operator": {&v1alpha1.DeployedRelease{Name: "photos"}, v1alpha1.PhaseReady},
	} {
		live := ofPhotos(deployment(2))
		live.UID = uid
		darkroom := storedPhotos(func(d *v1alpha1.Darkroom) { d.Status.DeployedRelease = test.applied })
		b := newBench(t, darkroom, live, ofPhotos(ingress(host)))
		if _, status := b.reconcile(t); status.Phase != test.phase {
			t.Errorf("%s: got phase %s, want %s", name, status.Phase, test.phase)
		}
	}
}

func TestAMissingSecretIsReported(t *testing.T) {
	darkroom := darkrooms.New("photos", "team-a").UID("0c5f").S3("photos", "eu-west-1").CredentialsSecret("keys").Obj()
	darkroom.Status.Phase, darkroom.Status.Conditions = v1alpha1.PhaseDeploying,
		photos().Generation(1).Obj().Status.Conditions
	b := newBench(t, darkroom)
	b.FindSecret = func(_ context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
		if key.Name == "keys" && key.Namespace == "team-a" {
			return nil, nil //nolint:nilnil // not found
		}
		return &metav1.PartialObjectMetadata{}, nil
	}
	_, status := b.reconcile(t)
	ready := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionCredentialsReady)
	if ready == nil || ready.Reason != v1alpha1.ReasonSecretMissing {
		t.Errorf("CredentialsReady: %+v", ready)
	}
	b.FindSecret = func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
		return &metav1.PartialObjectMetadata{}, nil
	}
	_, status = b.reconcile(t)
	if ready = v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionCredentialsReady); ready == nil ||
		ready.Status != yes {
		t.Errorf("CredentialsReady: %+v", ready)
	}
}

func TestAnErrorOfAReadIsNoStatus(t *testing.T) {
	failed := errors.New("the cache is gone")
	fail := func(kind client.Object) func(*bench) {
		return func(b *bench) {
			b.Client = interceptor.NewClient(b.Client.(client.WithWatch), interceptor.Funcs{
				Get: func(ctx context.Context, kube client.WithWatch, key client.ObjectKey, object client.Object,
					options ...client.GetOption,
				) error {
					if _, isDarkroom := object.(*v1alpha1.Darkroom); !isDarkroom && sameType(object, kind) {
						return failed
					}
					return kube.Get(ctx, key, object, options...)
				},
			})
		}
	}
	for name, spoil := range map[string]func(*bench){
		"claims": func(b *bench) {
			b.Refusals = func(context.Context, *v1alpha1.Darkroom) ([]hosts.Refusal, error) { return nil, failed }
		},
		"Deployment": fail(&appsv1.Deployment{}),
		"Ingress":    fail(&networkingv1.Ingress{}),
		"HTTPRoute":  fail(&gatewayv1.HTTPRoute{}),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, storedPhotos(), ofPhotos(deployment(2)), ofPhotos(ingress(host)))
			spoil(b)
			_, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: photosKey})
			if !errors.Is(err, failed) || len(b.wrote) > 0 {
				t.Errorf("got %d writes and error %v", len(b.wrote), err)
			}
		})
	}
}

func sameType(a, b client.Object) bool {
	switch a.(type) {
	case *appsv1.Deployment:
		_, same := b.(*appsv1.Deployment)
		return same
	case *networkingv1.Ingress:
		_, same := b.(*networkingv1.Ingress)
		return same
	}
	_, same := b.(*gatewayv1.HTTPRoute)
	return same
}

// A failed write must be returned as an error, so that it is retried.
func TestAWriteThatFailsIsAnError(t *testing.T) {
	b := newBench(t, storedPhotos(), ofPhotos(deployment(2)), ofPhotos(ingress(host)))
	b.failure = errors.New("the API server is gone")
	if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: photosKey}); !errors.Is(err, b.failure) {
		t.Errorf("got error %v, want %v", err, b.failure)
	}
}

// A change is reported together with the Helm controller's report. Without that report, the status reports once, after
// a timeout, that the change is being applied.
func TestAStatusWaitsForTheHelmControllerAfterAChange(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		written := noon.Add(-time.Duration(rapid.IntRange(-3, 10).Draw(t, "seconds since the change")) * time.Second)
		darkroom := darkrooms.New("photos", "team-a").Generation(2).
			Condition(condition(v1alpha1.ConditionInitialized, yes, 1)).Obj()
		darkroom.Status.ObservedGeneration = 1
		darkroom.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "kubectl", Time: &metav1.Time{Time: written}, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`),
		}}
		wantAgain := max(written.Add(helmPatience).Sub(noon), 0)
		if written.After(noon) {
			wantAgain = 0 // clock skew
		}
		wantEarly := wantAgain > 0
		if rapid.Bool().Draw(t, "the status reports that the change is being applied") {
			darkroom.Status.ObservedGeneration, wantEarly, wantAgain = 2, true, 0
		} else if rapid.Bool().Draw(t, "the time of the change is unknown") {
			darkroom.ManagedFields, wantEarly, wantAgain = nil, false, 0
		}
		switch rapid.IntRange(0, 3).Draw(t, "end of the wait") {
		case 0:
			darkroom.DeletionTimestamp, wantEarly, wantAgain = &metav1.Time{Time: noon}, false, 0
		case 1:
			darkroom.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
			wantEarly, wantAgain = false, 0
		case 2:
			darkroom.Status.Conditions[0].ObservedGeneration, wantEarly, wantAgain = 2, false, 0
		}
		if early, again := isEarly(darkroom, noon); early != wantEarly || again != wantAgain {
			t.Fatalf("got %t and %s, want %t and %s", early, again, wantEarly, wantAgain)
		}
	})
}

// Pods are listed after a delay, and then at growing intervals.
func TestPodsAreListedWithBackOff(t *testing.T) {
	unready := pods(2, 2, 0, 0)
	progressed := func(ago time.Duration, reason string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
				Type: appsv1.DeploymentProgressing, Status: map[bool]corev1.ConditionStatus{
					true:  corev1.ConditionTrue,
					false: corev1.ConditionFalse,
				}[reason == ""], Reason: reason, LastUpdateTime: metav1.NewTime(noon.Add(-ago)),
			})
		}
	}
	pending := pod("photos-1", 0, waiting("ImagePullBackOff", "no such image"))
	pending.Namespace, pending.Labels = "team-a", deployment(2).Spec.Selector.MatchLabels
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		deleted    bool
		again      time.Duration
		isListed   bool
	}{
		"no Deployment":           {nil, false, 0, false},
		"all ready":               {deployment(2, progressed(time.Hour, "")), false, 0, false},
		"no pod yet":              {deployment(2, pods(0, 0, 0, 0), progressed(time.Hour, "")), false, 0, false},
		"the Darkroom is deleted": {deployment(2, unready, progressed(time.Hour, "")), true, 0, false},
		"recently": {
			deployment(2, unready, progressed(time.Second, "")), false,
			podPatience - time.Second, false,
		},
		"exactly podPatience ago": {deployment(2, unready, progressed(podPatience, "")), false, podPeriodLeast, true},
		"recently, and overdue": {
			deployment(2, unready, progressed(time.Second, "ProgressDeadlineExceeded")),
			false, podPeriodLeast, true,
		},
		"some time ago": {
			deployment(2, unready, progressed(40*time.Second, "")),
			false, 10 * time.Second, true,
		},
		"an hour ago": {deployment(2, unready, progressed(time.Hour, "")), false, podPeriodMost, true},
		"since it was created": {
			deployment(2, unready,
				func(d *appsv1.Deployment) { d.CreationTimestamp = metav1.NewTime(noon.Add(-40 * time.Second)) }),
			false, 10 * time.Second, true,
		},
		"a pod of two ready, too few": {
			deployment(2, pods(2, 2, 1, 1), progressed(time.Hour, "")),
			false, podPeriodMost, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, pending.DeepCopy())
			o := Observation{Darkroom: photos().Obj(), Deployment: test.deployment}
			if test.deleted {
				o.Darkroom.DeletionTimestamp = &metav1.Time{Time: noon}
			}
			again, err := b.diagnose(t.Context(), &o)
			expect.NoError(t, err)
			if again != test.again || (len(b.read) > 0) != test.isListed || (o.Problem != nil) != test.isListed {
				t.Errorf("got requeue after %s, want %s; read %v, problem %+v", again, test.again, b.read, o.Problem)
			}
		})
	}
}

// Users can cause any number of events, for example by annotating an object, and create many pods. This must not
// increase the number of lists. Meanwhile the status keeps the last diagnosis.
func TestEventsCauseNoMoreListsOfPods(t *testing.T) {
	pending := pod("photos-1", 0, waiting("ImagePullBackOff", "no such image"))
	pending.Namespace, pending.Labels = "team-a", deployment(2).Spec.Selector.MatchLabels
	property.Check(t, func(rt *rapid.T) {
		b := newBench(t, pending.DeepCopy())
		created := func(d *appsv1.Deployment) { d.CreationTimestamp = metav1.NewTime(noon.Add(-time.Minute)) }
		passed, pauses := time.Duration(0), rapid.SliceOfN(rapid.IntRange(0, 3000), 1, 100).Draw(rt, "milliseconds")
		for _, pause := range pauses {
			o := Observation{Darkroom: photos().Obj(), Deployment: deployment(2, pods(2, 2, 0, 0), created)}
			again, err := b.diagnose(t.Context(), &o)
			expect.NoError(t, err)
			if o.Problem == nil || again <= 0 {
				rt.Fatalf("after %s: got problem %v, requeue after %s", passed, o.Problem, again)
			}
			passed += time.Duration(pause) * time.Millisecond
			b.clock.SetTime(noon.Add(passed))
		}
		if most := 1 + int(passed/podPeriodLeast); len(b.read) > most {
			rt.Errorf("%d events in %s caused %d lists, want at most %d", len(pauses), passed, len(b.read), most)
		}
	})
}

// A diagnosis must not be reused for the next rollout, nor after the clock was set back.
func TestAProblemThatWasFoundIsNotReportedForLong(t *testing.T) {
	pending := pod("photos-1", 0, waiting("ImagePullBackOff", "no such image"))
	pending.Namespace, pending.Labels = "team-a", deployment(2).Spec.Selector.MatchLabels
	since := func(at time.Time) *appsv1.Deployment {
		return deployment(2, pods(2, 2, 0, 0), func(d *appsv1.Deployment) { d.CreationTimestamp = metav1.NewTime(at) })
	}
	for name, next := range map[string]struct {
		deployments []*appsv1.Deployment
		passed      time.Duration
	}{
		"another rollout":        {[]*appsv1.Deployment{since(noon), since(noon.Add(-time.Minute))}, time.Second},
		"all ready in between":   {[]*appsv1.Deployment{deployment(2), since(noon.Add(-time.Minute))}, time.Second},
		"later":                  {[]*appsv1.Deployment{since(noon.Add(-time.Minute))}, podPeriodLeast},
		"the clock was set back": {[]*appsv1.Deployment{since(noon.Add(-2 * time.Hour))}, -time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, pending.DeepCopy())
			o := Observation{Darkroom: photos().Obj(), Deployment: since(noon.Add(-time.Minute))}
			_, err := b.diagnose(t.Context(), &o)
			expect.NoError(t, err)
			expect.NoError(t, b.Client.Delete(t.Context(), pending.DeepCopy()))
			b.clock.SetTime(noon.Add(next.passed))
			for _, now := range next.deployments {
				o.Deployment, o.Problem = now, nil
				_, err = b.diagnose(t.Context(), &o)
				expect.NoError(t, err)
			}
			if o.Problem != nil {
				t.Errorf("got problem %+v", o.Problem)
			}
		})
	}
}

// A running pod that does not become ready is probed if the Darkroom has a probe.
func TestAPodThatDoesNotBecomeReadyIsProbed(t *testing.T) {
	rolling := deployment(2, pods(3, 1, 2, 2), func(d *appsv1.Deployment) {
		d.UID, d.Annotations = "d", map[string]string{revisionAnnotation: "3"}
		d.CreationTimestamp = metav1.NewTime(noon.Add(-time.Minute))
	})
	replicaSet := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "photos-3", UID: "r", Labels: rolling.Spec.Selector.MatchLabels,
		OwnerReferences: ownedBy("Deployment", "d"), Annotations: map[string]string{revisionAnnotation: "3"},
	}}
	starting := func(seconds int) *corev1.Pod {
		container := running
		container.State.Running = &corev1.ContainerStateRunning{
			StartedAt: metav1.NewTime(noon.Add(-time.Duration(seconds) * time.Second)),
		}
		started := pod("photos-3-x", 0, container)
		started.Namespace, started.Labels, started.OwnerReferences = "team-a",
			rolling.Spec.Selector.MatchLabels, ownedBy("ReplicaSet", "r")
		started.Status.PodIP = "10.0.0.3"
		return &started
	}
	for name, test := range map[string]struct {
		pod      *corev1.Pod
		darkroom *darkrooms.Builder
		isOff    bool
		starting string
		again    time.Duration
	}{
		"for a while": {
			pod: starting(60), darkroom: withProbe(photos()),
			starting: "photos-3-x", again: 15 * time.Second,
		},
		"a moment ago":    {pod: starting(3), darkroom: withProbe(photos()), again: startPatience - 3*time.Second},
		"without a probe": {pod: starting(60), darkroom: photos(), again: 15 * time.Second},
		"probes are off":  {pod: starting(60), darkroom: withProbe(photos()), isOff: true, again: 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.pod, replicaSet)
			if !test.isOff {
				b.Prober = sourceStub{}
			}
			o := Observation{Darkroom: test.darkroom.Obj(), Deployment: rolling}
			again, err := b.diagnose(t.Context(), &o)
			expect.NoError(t, err)
			if again != test.again || o.Starting.Name != test.starting {
				t.Errorf("got pod %q and requeue after %s, want %q and %s", o.Starting.Name, again, test.starting, test.again)
			}
		})
	}
}

func TestTheSoonerTimeCounts(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		times := rapid.Int64Range(-3, 3)
		a, b := time.Duration(times.Draw(t, "a")), time.Duration(times.Draw(t, "b"))
		got, want := Sooner(a, b), max(a, b, 0)
		if a > 0 && b > 0 {
			want = min(a, b)
		}
		if max(got, 0) != want {
			t.Fatalf("Sooner(%d, %d): got %d", a, b, got)
		}
	})
}
