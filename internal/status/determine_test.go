package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

const host = "photos.darkroom.example.com"

// noon is when everything in these tests happened.
var noon = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)

// condition is a condition of the Helm reconciler that speaks of a generation.
func condition(conditionType string, status metav1.ConditionStatus, generation int64) v1alpha1.Condition {
	return v1alpha1.Condition{Type: conditionType, Status: status, ObservedGeneration: generation}
}

// failure is condition, True, with a cause.
func failure(conditionType, reason, message string, generation int64) v1alpha1.Condition {
	return v1alpha1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: generation}
}

// photos is a Darkroom of generation 2, which Helm has deployed.
func photos() *darkrooms.Builder {
	return darkrooms.New("photos", "team-a").Generation(2).
		Condition(condition(v1alpha1.ConditionInitialized, metav1.ConditionTrue, 2)).
		Condition(condition(v1alpha1.ConditionDeployed, metav1.ConditionTrue, 2)).
		Condition(condition(v1alpha1.ConditionReleaseFailed, metav1.ConditionFalse, 2)).
		Condition(condition(v1alpha1.ConditionIrreconcilable, metav1.ConditionFalse, 2))
}

// deployment of so many pods, all of them up to date and ready, after changes by
// the functions.
func deployment(replicas int32, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	out := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "photos", Namespace: "team-a", Generation: 5},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "darkroom", "app.kubernetes.io/instance": "photos"}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "proxy", Image: "example.com/sidecar:v9"},
				{Name: containerName, Image: "gojektech/darkroom:v0.4.2"},
			}}},
		},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 5, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		},
	}
	for _, change := range changes {
		change(out)
	}
	return out
}

// pods sets the numbers of pods in the order of a roll-out: all, of the new
// template, ready, available.
func pods(all, updated, ready, available int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = all, updated, ready, available
	}
}

func deploymentSays(conditionType appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
			Type: conditionType, Status: status, Reason: reason, Message: message,
		})
	}
}

func notObserved(d *appsv1.Deployment) { d.Status.ObservedGeneration = d.Generation - 1 }

func ingress(hosts ...string) *networkingv1.Ingress {
	out := &networkingv1.Ingress{}
	for _, host := range hosts {
		out.Spec.Rules = append(out.Spec.Rules, networkingv1.IngressRule{Host: host})
	}
	return out
}

var routed = v1alpha1.Condition{Type: v1alpha1.ConditionDomainsReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonRouted}

// compareVerdict compares a verdict with the wanted one; a message that is not
// wanted in particular is any but none.
func compareVerdict(t *testing.T, want, got verdict) {
	t.Helper()
	if want.message == "" && got.message != "" {
		want.message = got.message
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(verdict{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.message == "" {
		t.Error("the message is empty")
	}
}

func TestVerdict(t *testing.T) {
	const (
		yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	)
	invalid := failure(v1alpha1.ConditionIrreconcilable, "ErrorGettingValues", "spec.source.baseUrl: Required value", 2)
	problem := &Problem{v1alpha1.ReasonImagePullFailed, "no such image"}
	for name, test := range map[string]struct {
		darkroom   *darkrooms.Builder
		deployment *appsv1.Deployment
		problem    *Problem
		unseen     bool
		domains    v1alpha1.Condition
		want       verdict
		why        string
	}{
		"a new Darkroom": {
			darkroom: darkrooms.New("photos", "team-a"),
			want:     verdict{v1alpha1.PhasePending, no, v1alpha1.ReasonPending, "Nothing is installed yet."},
		},
		"installed, and Helm's word is still to come": {
			darkroom:   darkrooms.New("photos", "team-a"),
			deployment: deployment(1),
			want:       verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonDeploying, "The last change is being applied."},
		},
		"resumed after a pause in which it was changed": {
			darkroom: photos().
				Condition(condition(v1alpha1.ConditionInitialized, unknown, 2)).
				Condition(condition(v1alpha1.ConditionDeployed, unknown, 2)),
			deployment: deployment(1),
			want:       verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonDeploying, ""},
			why:        "while paused, Helm reports Unknown for a generation that it has not applied",
		},
		"all pods ready, all hosts routed": {
			darkroom:   photos(),
			deployment: deployment(2),
			want:       verdict{v1alpha1.PhaseReady, yes, v1alpha1.ReasonAllReplicasReady, "2 of 2 pods are ready."},
		},
		"all pods ready, a host is not routed": {
			darkroom:   photos(),
			deployment: deployment(2),
			domains:    v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted, Message: "Not routed yet: a."},
			want:       verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonNotRouted, "Not routed yet: a."},
			why:        "no request can reach the pods",
		},
		"all pods ready, and the cache has not shown the last apply": {
			darkroom:   photos(),
			deployment: deployment(2),
			unseen:     true,
			want:       verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonDeploying, "The last change is being applied."},
			why:        "the pods are ready with what was asked for before",
		},
		"all pods ready, a Gateway refuses the route": {
			darkroom:   photos(),
			deployment: deployment(2),
			domains:    v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonRouteRefused, Message: "Gateway a/b: no."},
			want:       verdict{v1alpha1.PhaseDegraded, no, v1alpha1.ReasonRouteRefused, "Gateway a/b: no."},
			why:        "waiting does not help",
		},
		"scaled to zero as asked, and a host belongs to another": {
			darkroom:   photos().Replicas(0),
			deployment: deployment(0),
			domains:    v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonDomainConflict, Message: "a is taken."},
			want:       verdict{v1alpha1.PhaseDegraded, no, v1alpha1.ReasonDomainConflict, "a is taken."},
		},
		"a host is not routed, and pods fail": {
			darkroom:   photos(),
			deployment: deployment(2, pods(2, 2, 1, 1)),
			problem:    problem,
			domains:    v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted, Message: "Not routed yet: a."},
			want:       verdict{v1alpha1.PhaseDegraded, no, v1alpha1.ReasonImagePullFailed, "no such image."},
			why:        "the routes will hardly wait for anybody, the pods do",
		},
		"the upgrade failed: what failed says more than that something did": {
			darkroom: photos().Condition(failure(v1alpha1.ConditionIrreconcilable, "ReconcileError", "reconcile: no quota", 2)).
				Condition(failure(v1alpha1.ConditionReleaseFailed, "UpgradeError", "no quota", 2)),
			deployment: deployment(2),
			want:       verdict{v1alpha1.PhaseFailed, no, v1alpha1.ReasonReleaseFailed, "no quota"},
		},
		"the upgrade to an earlier generation failed": {
			darkroom:   photos().Condition(failure(v1alpha1.ConditionReleaseFailed, "UpgradeError", "no quota", 1)),
			deployment: deployment(2),
			want:       verdict{v1alpha1.PhaseReady, yes, v1alpha1.ReasonAllReplicasReady, ""},
		},
		"refused": {
			darkroom:   photos().Condition(invalid),
			deployment: deployment(2),
			want:       verdict{v1alpha1.PhaseFailed, no, v1alpha1.ReasonInvalid, "spec.source.baseUrl: Required value"},
			why:        "the pods are ready with what was asked for before",
		},
		"paused": {
			darkroom:   photos().Paused(),
			deployment: deployment(2),
			want:       verdict{v1alpha1.PhasePaused, unknown, v1alpha1.ReasonPaused, ""},
		},
		"paused by another word than true": {
			darkroom:   photos().Annotation(v1alpha1.AnnotationPaused, "yes"),
			deployment: deployment(2),
			want:       verdict{v1alpha1.PhaseReady, yes, v1alpha1.ReasonAllReplicasReady, ""},
			why:        "the Helm reconciler does not take it for a pause either",
		},
		"deleted": {
			darkroom:   photos().Deleting(metav1.NewTime(noon)),
			deployment: deployment(2),
			want:       verdict{v1alpha1.PhaseTerminating, no, v1alpha1.ReasonTerminating, "The Darkroom is being deleted."},
		},
		"deleted, paused and refused": {
			darkroom: photos().Deleting(metav1.NewTime(noon)).Paused().Condition(invalid),
			want:     verdict{v1alpha1.PhaseTerminating, no, v1alpha1.ReasonTerminating, "The Darkroom is being deleted."},
			why:      "deletion stands above all",
		},
	} {
		t.Run(name, func(t *testing.T) {
			domains := test.domains
			if domains.Status == "" {
				domains = routed
			}
			if test.why != "" {
				t.Log(test.why)
			}
			compareVerdict(t, test.want, determineVerdict(Observation{
				Darkroom: test.darkroom.Obj(), Deployment: test.deployment, Problem: test.problem, Unseen: test.unseen,
			}, domains, nil))
		})
	}
}

func TestRollout(t *testing.T) {
	progressing := func(status corev1.ConditionStatus, reason, message string) func(*appsv1.Deployment) {
		return deploymentSays(appsv1.DeploymentProgressing, status, reason, message)
	}
	ready := func(message string) verdict {
		return verdict{v1alpha1.PhaseReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady, message}
	}
	refused := deploymentSays(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "exceeded quota: pods")
	late := progressing(corev1.ConditionFalse, "ProgressDeadlineExceeded", "ReplicaSet has timed out progressing.")
	problem := &Problem{v1alpha1.ReasonPodsFailing, "Pod photos-1: CrashLoopBackOff"}
	rolledOut := progressing(corev1.ConditionTrue, reasonRolledOut, "")
	// before is a Darkroom whose last report counted so many ready pods.
	before := func(ready int32, reason string) *darkrooms.Builder {
		return photos().Condition(v1alpha1.Condition{Type: v1alpha1.ConditionReady, Reason: reason}).
			Status(func(status *v1alpha1.DarkroomStatus) { status.ReadyReplicas = ready })
	}
	for name, test := range map[string]struct {
		darkroom   *darkrooms.Builder // photos unless set
		deployment *appsv1.Deployment
		problem    *Problem
		want       verdict
		why        string
	}{
		"all there": {deployment: deployment(3), want: ready("3 of 3 pods are ready.")},
		"Kubernetes has not looked, and a pod of before fails": {
			deployment: deployment(3, notObserved, late), problem: problem, want: deploying("Rolling out: 3 of 3 pods are ready."),
			why: "the change may be the remedy",
		},
		"scaled to zero, as asked": {
			darkroom: photos().Replicas(0), deployment: deployment(0),
			want: verdict{v1alpha1.PhaseIdle, metav1.ConditionTrue, v1alpha1.ReasonScaledToZero, "Scaled to zero: no images are served."},
		},
		"scaled to zero, pods are still stopping": {
			darkroom: photos().Replicas(0), deployment: deployment(0, pods(2, 0, 2, 2)),
			want: deploying("Scaling to zero: 2 pods are left."),
		},
		"scaled up from zero, and the Deployment does not show it yet": {
			darkroom: photos().Replicas(2), deployment: deployment(0),
			want: deploying("Scaling up from zero."),
		},
		"scaled to zero by hand, under an autoscaler": {
			darkroom: photos().Autoscaling(1, 5), deployment: deployment(0),
			want: degraded(v1alpha1.ReasonAutoscalingSuspended, ""),
			why:  "neither the operator nor the autoscaler changes it back",
		},
		"pods of the old template are left": {
			deployment: deployment(3, pods(4, 3, 4, 4)), want: deploying("Rolling out: 4 of 3 pods are ready."),
		},
		"ready, but not for long enough": {
			deployment: deployment(1, pods(1, 1, 1, 0)), want: deploying("Rolling out: 1 of 1 pods are ready."),
		},
		"a problem says more than a deadline": {
			deployment: deployment(2, pods(2, 2, 1, 1), late, refused), problem: problem,
			want: degraded(v1alpha1.ReasonPodsFailing, "Pod photos-1: CrashLoopBackOff."),
		},
		"the API server refuses pods": {
			deployment: deployment(2, pods(1, 1, 1, 1), refused),
			want:       degraded(v1alpha1.ReasonPodsRefused, "exceeded quota: pods."),
		},
		"no progress in time": {
			deployment: deployment(2, pods(2, 2, 1, 1), late),
			want:       degraded(v1alpha1.ReasonProgressDeadlineExceeded, "ReplicaSet has timed out progressing."),
		},
		"a pod was lost after the roll-out": {
			darkroom:   before(2, v1alpha1.ReasonAllReplicasReady),
			deployment: deployment(2, pods(2, 2, 1, 1), rolledOut),
			want:       degraded(v1alpha1.ReasonReplicasUnavailable, "1 of 2 pods are ready."),
			why:        "no roll-out will bring it back",
		},
		"a pod was lost, as reported before": {
			darkroom:   before(1, v1alpha1.ReasonReplicasUnavailable),
			deployment: deployment(2, pods(2, 2, 1, 1), rolledOut),
			want:       degraded(v1alpha1.ReasonReplicasUnavailable, "1 of 2 pods are ready."),
			why:        "it stays lost until all are ready",
		},
		"scaled up, and the new pods start": {
			darkroom:   before(2, v1alpha1.ReasonAllReplicasReady),
			deployment: deployment(5, pods(5, 5, 2, 2), rolledOut),
			want:       deploying("Scaling: 2 of 5 pods are ready."),
		},
		"scaled up, and an old pod is lost meanwhile": {
			darkroom:   before(3, v1alpha1.ReasonDeploying),
			deployment: deployment(5, pods(5, 5, 2, 2), rolledOut),
			want:       degraded(v1alpha1.ReasonReplicasUnavailable, "2 of 5 pods are ready."),
		},
		"scaled down, and pods are still stopping": {
			darkroom:   before(5, v1alpha1.ReasonAllReplicasReady),
			deployment: deployment(2, pods(3, 3, 2, 2), rolledOut),
			want:       ready("2 of 2 pods are ready."),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.why != "" {
				t.Log(test.why)
			}
			if test.darkroom == nil {
				test.darkroom = photos()
			}
			compareVerdict(t, test.want, determineRollout(Observation{
				Darkroom: test.darkroom.Obj(), Deployment: test.deployment, Problem: test.problem,
			}))
		})
	}
}

func TestVersionIsThatOfTheDarkroomContainer(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for image, want := range map[string]string{
		"gojektech/darkroom:v0.4.2":                                "v0.4.2",
		"registry.example.com:5000/team/darkroom":                  "",
		"registry.example.com:5000/team/darkroom@" + digest:        digest,
		"registry.example.com:5000/team/darkroom:v0.4.2@" + digest: "v0.4.2",
	} {
		d := deployment(1)
		d.Spec.Template.Spec.Containers[1].Image = image
		if got := versionOf(d); got != want {
			t.Errorf("%s: want %q, got %q", image, want, got)
		}
	}
	sidecarAlone := deployment(1)
	sidecarAlone.Spec.Template.Spec.Containers = sidecarAlone.Spec.Template.Spec.Containers[:1]
	if got := versionOf(sidecarAlone); got != "" {
		t.Errorf("%q is a sidecar's", got)
	}
}

func TestReport(t *testing.T) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	// progress is Reconciling, Stalled or nothing; it says the same as Ready.
	conditions := func(domains, ready v1alpha1.Condition, progress string) []v1alpha1.Condition {
		domains.Type, ready.Type = v1alpha1.ConditionDomainsReady, v1alpha1.ConditionReady
		domains.ObservedGeneration, ready.ObservedGeneration = 2, 2
		// None of these Darkrooms sets a probe; source_test.go has those that do.
		source := determineSource(Observation{Darkroom: darkrooms.New("photos", "team-a").Obj()})
		source.ObservedGeneration = 2
		conditions := []v1alpha1.Condition{domains, source, ready}
		if progress != "" {
			ready.Type, ready.Status = progress, yes
			conditions = append(conditions, ready)
		}
		return conditions
	}
	live := v1alpha1.DarkroomStatus{
		ObservedGeneration: 2,
		Domains:            []string{host},
		URL:                "http://" + host,
		Version:            "v0.4.2",
		Address:            "http://photos.team-a.svc",
		Selector:           "app.kubernetes.io/instance=photos,app.kubernetes.io/name=darkroom",
	}
	for name, test := range map[string]struct {
		observation Observation
		want        v1alpha1.DarkroomStatus
	}{
		"nothing is there": {
			Observation{Darkroom: darkrooms.New("photos", "team-a").Generation(2).Obj(), Hosts: []string{host}},
			v1alpha1.DarkroomStatus{
				ObservedGeneration: 2, Phase: v1alpha1.PhasePending, Message: "Nothing is installed yet.",
				Conditions: conditions(
					v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted, Message: "Not routed yet: " + host + "."},
					v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonPending, Message: "Nothing is installed yet."},
					v1alpha1.ConditionReconciling,
				),
			},
		},
		"all is well": {
			Observation{Darkroom: photos().Obj(), Hosts: []string{host}, Deployment: deployment(2), Ingress: ingress(host)},
			with(live, func(s *v1alpha1.DarkroomStatus) {
				s.Phase, s.Message, s.Replicas, s.ReadyReplicas, s.Pods = v1alpha1.PhaseReady, "2 of 2 pods are ready.", 2, 2, "2/2"
				s.Conditions = conditions(
					v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: " + host + "."},
					v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonAllReplicasReady, Message: "2 of 2 pods are ready."},
					"",
				)
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Determine(test.observation)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func with(status v1alpha1.DarkroomStatus, change func(*v1alpha1.DarkroomStatus)) v1alpha1.DarkroomStatus {
	change(&status)
	return status
}

// word is a combination of what the Helm reconciler may say, by type.
type word map[string]v1alpha1.Condition

func (w word) String() string {
	var out []string
	for conditionType, c := range w {
		out = append(out, fmt.Sprintf("%s=%s of %d", conditionType, c.Status, c.ObservedGeneration))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// readyWith has each reason of a ready Darkroom of a generation, where its pods are ready
// and its hosts are routed.
func readyWith(t *testing.T, generation int64) []word {
	t.Helper()
	words := []word{{}}
	for _, conditionType := range []string{
		v1alpha1.ConditionInitialized, v1alpha1.ConditionDeployed, v1alpha1.ConditionReleaseFailed, v1alpha1.ConditionIrreconcilable,
	} {
		for _, w := range slices.Clone(words) {
			for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
				for _, observed := range []int64{generation - 1, generation} {
					more := maps.Clone(w)
					more[conditionType] = condition(conditionType, status, observed)
					words = append(words, more)
				}
			}
		}
	}
	var readies []word
	for _, w := range words {
		darkroom := darkrooms.New("photos", "team-a").Generation(generation)
		for _, c := range w {
			darkroom.Condition(c)
		}
		report := Determine(Observation{Darkroom: darkroom.Obj(), Hosts: []string{host}, Deployment: deployment(1), Ingress: ingress(host)})
		ready := v1alpha1.IsConditionTrue(report.Conditions, v1alpha1.ConditionReady)
		if ready != (report.Phase == v1alpha1.PhaseReady) {
			t.Errorf("phase %s, but Ready: %t, with %s", report.Phase, ready, w)
		}
		if report.ObservedGeneration != generation {
			t.Errorf("the report speaks of generation %d", report.ObservedGeneration)
		}
		if ready {
			readies = append(readies, w)
		}
	}
	if len(readies) == 0 {
		t.Fatal("never ready: these tests would pass for anything")
	}
	return readies
}

func TestReadyIsOnlyWhatHelmHasDeployed(t *testing.T) {
	const generation = 3
	for _, w := range readyWith(t, generation) {
		if w[v1alpha1.ConditionInitialized].ObservedGeneration != generation {
			t.Errorf("ready, but Helm has not looked at generation %d: %s", generation, w)
		}
		for _, failed := range []string{v1alpha1.ConditionReleaseFailed, v1alpha1.ConditionIrreconcilable} {
			if c := w[failed]; c.Status == metav1.ConditionTrue && c.ObservedGeneration == generation {
				t.Errorf("ready, but it failed: %s", w)
			}
		}
		if c := w[v1alpha1.ConditionDeployed]; c.Status != metav1.ConditionTrue || c.ObservedGeneration != generation {
			t.Errorf("ready, but not deployed: %s", w)
		}
	}
}
