package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// outcome is a verdict with the expected progress condition: Reconciling, Stalled or none.
type outcome struct {
	verdict
	progress string
}

func working(v verdict) outcome { return outcome{v, v1alpha1.ConditionReconciling} }

func stalled(v verdict) outcome { return outcome{v, v1alpha1.ConditionStalled} }

func settled(v verdict) outcome { return outcome{v, ""} }

func pending(message string) verdict {
	return verdict{v1alpha1.PhasePending, no, v1alpha1.ReasonPending, message}
}

func ready(message string) verdict {
	return verdict{v1alpha1.PhaseReady, yes, v1alpha1.ReasonAllReplicasReady, message}
}

func failed(reason, message string) verdict {
	return verdict{v1alpha1.PhaseFailed, no, reason, message}
}

// compareVerdict compares the verdict in a report with the expected one. Without an expected message, any message
// except an empty one matches.
func compareVerdict(t *testing.T, want verdict, report v1alpha1.DarkroomStatus) {
	t.Helper()
	condition := v1alpha1.FindCondition(report.Conditions, v1alpha1.ConditionReady)
	got := verdict{report.Phase, condition.Status, condition.Reason, condition.Message}
	if want.message == "" {
		want.message = got.message
	}
	expect.Equal(t, "the verdict", want, got, cmp.AllowUnexported(verdict{}))
	if got.message == "" || report.Message != got.message {
		t.Errorf("got message %q, but the message of Ready is %q", report.Message, got.message)
	}
}

// verdictCase is what users see of a Darkroom.
type verdictCase struct {
	observation Observation
	want        outcome
}

// checkVerdicts checks what users see, and how tools that wait for a Darkroom evaluate it.
func checkVerdicts(t *testing.T, cases map[string]verdictCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			report := Determine(test.observation)
			compareVerdict(t, test.want.verdict, report)
			compareProgress(t, test.want.progress, report)
			darkroom := test.observation.Darkroom.DeepCopy()
			darkroom.Status = report
			checkTools(t, darkroom, test.want.progress)
		})
	}
}

func TestVerdictBeforeAndAfterTheFirstRollout(t *testing.T) {
	applying := deploying("The last change is being applied.")
	newcomer := darkrooms.New("photos", "team-a")
	checkVerdicts(t, map[string]verdictCase{
		"a new Darkroom":                       {seen(newcomer, nil), working(pending("The release is not installed yet."))},
		"installed, before the report of Helm": {seen(newcomer, deployment(1)), working(applying)},
		// During a pause, Helm reports Unknown for a generation that it has not applied.
		"resumed after a pause in which it was changed": {
			seen(photos().Condition(condition(v1alpha1.ConditionInitialized, unknown, 2)).
				Condition(condition(v1alpha1.ConditionDeployed, unknown, 2)), deployment(1)),
			working(applying),
		},
		"all pods ready, all hosts routed": {seen(photos(), deployment(2)), settled(ready("2 of 2 pods are ready."))},
		// The pods are ready, but with the previous settings.
		"all pods ready, but the cache does not show the last apply": {
			seen(photos(), deployment(2), outdated),
			working(applying),
		},
	})
}

func TestVerdictOfHosts(t *testing.T) {
	taken := refusedBy(host, "team-b", "theirs")
	noImage := problem(v1alpha1.ReasonImagePullFailed, "no such image")
	checkVerdicts(t, map[string]verdictCase{
		"a host is not routed": {
			seen(photos(), deployment(2), notRouted),
			working(verdict{v1alpha1.PhaseDeploying, no, v1alpha1.ReasonNotRouted, "Not routed yet: " + host + "."}),
		},
		// Failing pods need more attention than a host that is not routed yet.
		"a host is not routed, and pods fail": {
			seen(photos(), deployment(2, pods(2, 2, 1, 1)), notRouted, noImage),
			stalled(degraded(v1alpha1.ReasonImagePullFailed, "no such image.")),
		},
		"a Gateway is awaited": {
			seen(photos().Gateway("public"), deployment(2), routed()),
			working(verdict{v1alpha1.PhaseDeploying, unknown, v1alpha1.ReasonAwaitingGateway, awaitedWords}),
		},
		"a Gateway refuses the route": {
			seen(photos().Gateway("public"), deployment(2), routed(says("public", notAccepted))),
			stalled(degraded(v1alpha1.ReasonRouteRefused, refusedWords)),
		},
		"the IngressClass does not exist": {
			seen(photos(), deployment(2), func(o *Observation) {
				o.Ingress.Spec.IngressClassName, o.MissingClass = ptr.To("nope"), true
			}),
			stalled(degraded(v1alpha1.ReasonIngressClassMissing, "IngressClass nope does not exist, so no controller serves the "+
				"Ingress. Set ingress.className to a class listed by kubectl get ingressclasses.")),
		},
		"a certificate is awaited": {
			seen(photos(), deployment(2), func(o *Observation) { o.MissingCertificates = []string{"cert"} }),
			working(verdict{
				v1alpha1.PhaseDeploying, no, v1alpha1.ReasonCertificateMissing,
				"Secret cert with the certificate of the Ingress does not exist in namespace team-a.",
			}),
		},
		"no controller has published an address": {
			seen(photos(), deployment(2), func(o *Observation) { o.Ingress.Status = networkingv1.IngressStatus{} }),
			settled(ready("2 of 2 pods are ready.")),
		},
		"a host belongs to another": {
			seen(photos(), deployment(2), refused(taken)),
			stalled(degraded(v1alpha1.ReasonDomainConflict, "")),
		},
		"scaled to zero, and a host belongs to another": {
			seen(photos().Replicas(0), deployment(0), refused(taken)),
			stalled(degraded(v1alpha1.ReasonDomainConflict, "")),
		},
	})
}

func TestVerdictOfAFailurePauseOrDeletion(t *testing.T) {
	invalid := failure(v1alpha1.ConditionIrreconcilable, v1alpha1.ReasonErrorGettingValues,
		"spec.source.baseUrl: Required value", 2)
	noQuota := failure(v1alpha1.ConditionReleaseFailed, v1alpha1.ReasonUpgradeError, "no quota", 2)
	failing := func(since time.Duration) *darkrooms.Builder {
		retried := noQuota
		retried.LastTransitionTime = metav1.NewTime(noon.Add(-since))
		return photos().Condition(retried)
	}
	terminating := verdict{v1alpha1.PhaseTerminating, no, v1alpha1.ReasonTerminating, "The Darkroom is being deleted."}
	checkVerdicts(t, map[string]verdictCase{
		"the upgrade has just failed": {
			seen(failing(retryPeriod-time.Second), nil),
			working(failed(v1alpha1.ReasonReleaseFailed, "no quota")),
		},
		"the upgrade keeps failing": {
			seen(failing(retryPeriod), nil),
			stalled(failed(v1alpha1.ReasonReleaseFailed, "no quota")),
		},
		"the specific failure is reported": {
			seen(photos().Condition(failure(v1alpha1.ConditionIrreconcilable, "ReconcileError", "reconcile: no quota", 2)).
				Condition(noQuota), deployment(2)),
			stalled(failed(v1alpha1.ReasonReleaseFailed, "no quota")),
		},
		"the upgrade to an earlier generation failed": {
			seen(photos().Condition(failure(v1alpha1.ConditionReleaseFailed, v1alpha1.ReasonUpgradeError, "no quota", 1)),
				deployment(2)),
			settled(ready("")),
		},
		// The pods are ready, but with the previous settings.
		"refused": {
			seen(photos().Condition(invalid), deployment(2)),
			stalled(failed(v1alpha1.ReasonInvalid, "spec.source.baseUrl: Required value")),
		},
		"paused": {
			seen(photos().Paused(), deployment(2)),
			settled(verdict{v1alpha1.PhasePaused, unknown, v1alpha1.ReasonPaused, ""}),
		},
		// The Helm reconciler also treats only "true" as a pause.
		"the annotation has another value than true": {
			seen(photos().Annotation(v1alpha1.AnnotationPaused, "yes"), deployment(2)),
			settled(ready("")),
		},
		"deleted": {seen(photos().Deleting(metav1.NewTime(noon)), deployment(2)), settled(terminating)},
		"deleted, paused and refused": {
			seen(photos().Deleting(metav1.NewTime(noon)).Paused().Condition(invalid), nil),
			settled(terminating),
		},
	})
}

func TestVerdictOfARollout(t *testing.T) {
	keys := photos().S3("images", "eu-west-2").CredentialsSecret("keys")
	noNode := problem(v1alpha1.ReasonUnschedulable, "no node")
	crashing := problem(v1alpha1.ReasonPodsFailing, "Pod photos-1: CrashLoopBackOff")
	starting, overdue := deployment(2, pods(2, 2, 0, 0)), deployment(2, pods(2, 2, 0, 0), late)
	checkVerdicts(t, map[string]verdictCase{
		"rolling out": {seen(photos(), starting), working(deploying("Rolling out: 0 of 2 pods are ready."))},
		// The change may fix the problem.
		"the change is not observed, and a pod from before fails": {
			seen(photos(), deployment(3, notObserved, late), crashing),
			working(deploying("Rolling out: 3 of 3 pods are ready.")),
		},
		"pods of the old template are left": {
			seen(photos(), deployment(3, pods(4, 3, 4, 4))),
			working(deploying("Rolling out: 4 of 3 pods are ready.")),
		},
		"ready, but not for long enough": {
			seen(photos(), deployment(1, pods(1, 1, 1, 0))),
			working(deploying("Rolling out: 1 of 1 pods are ready.")),
		},
		"a problem says more than a deadline": {
			seen(photos(), deployment(2, pods(2, 2, 1, 1), late, overQuota), crashing),
			stalled(degraded(v1alpha1.ReasonPodsFailing, "Pod photos-1: CrashLoopBackOff.")),
		},
		"the API server refuses pods": {
			seen(photos(), deployment(2, pods(1, 1, 1, 1), overQuota)),
			stalled(degraded(v1alpha1.ReasonPodsRefused, "exceeded quota: pods.")),
		},
		"no progress in time": {
			seen(photos(), overdue),
			stalled(degraded(v1alpha1.ReasonProgressDeadlineExceeded, "ReplicaSet has timed out progressing.")),
		},
		"no node, and one may be added": {
			seen(photos(), starting, noNode),
			working(degraded(v1alpha1.ReasonUnschedulable, "no node.")),
		},
		"no node, and none was added": {
			seen(photos(), overdue, noNode),
			stalled(degraded(v1alpha1.ReasonUnschedulable, "no node.")),
		},
		"a Secret that may yet be created": {
			seen(keys, starting, noSecret),
			working(degraded(v1alpha1.ReasonSecretMissing, "")),
		},
		"a Secret that was not created in time": {
			seen(keys, overdue, noSecret),
			stalled(degraded(v1alpha1.ReasonSecretMissing, "")),
		},
	})
}

func TestVerdictOfLostAndScaledPods(t *testing.T) {
	// before returns a Darkroom whose last report had this number of ready pods.
	before := func(ready int32, reason string) *darkrooms.Builder {
		return photos().Condition(v1alpha1.Condition{Type: v1alpha1.ConditionReady, Reason: reason}).
			Status(func(status *v1alpha1.DarkroomStatus) { status.ReadyReplicas = ready })
	}
	lost := deployment(2, pods(2, 2, 1, 1), rolledOut)
	checkVerdicts(t, map[string]verdictCase{
		// No rollout will replace the lost pod.
		"a pod was lost after the rollout": {
			seen(before(2, v1alpha1.ReasonAllReplicasReady), lost),
			working(degraded(v1alpha1.ReasonReplicasUnavailable, "1 of 2 pods are ready.")),
		},
		// It counts as lost until all pods are ready.
		"a pod was lost, as reported before": {
			seen(before(1, v1alpha1.ReasonReplicasUnavailable), lost),
			working(degraded(v1alpha1.ReasonReplicasUnavailable, "1 of 2 pods are ready.")),
		},
		"scaled up, and the new pods start": {
			seen(before(2, v1alpha1.ReasonAllReplicasReady), deployment(5, pods(5, 5, 2, 2), rolledOut)),
			working(deploying("Scaling: 2 of 5 pods are ready.")),
		},
		"scaled up, and an old pod is lost meanwhile": {
			seen(before(3, v1alpha1.ReasonDeploying), deployment(5, pods(5, 5, 2, 2), rolledOut)),
			working(degraded(v1alpha1.ReasonReplicasUnavailable, "2 of 5 pods are ready.")),
		},
		"scaled down, and pods are still stopping": {
			seen(before(5, v1alpha1.ReasonAllReplicasReady), deployment(2, pods(3, 3, 2, 2), rolledOut)),
			settled(ready("2 of 2 pods are ready.")),
		},
		"scaled to zero, as asked": {
			seen(photos().Replicas(0), deployment(0)),
			settled(verdict{v1alpha1.PhaseIdle, yes, v1alpha1.ReasonScaledToZero, "Scaled to zero: no images are served."}),
		},
		"scaled to zero, pods are still stopping": {
			seen(photos().Replicas(0), deployment(0, pods(2, 0, 2, 2))), working(deploying("Scaling to zero: 2 pods remain.")),
		},
		"scaled up from zero, and the Deployment does not show it yet": {
			seen(photos().Replicas(2), deployment(0)),
			working(deploying("Scaling up from zero.")),
		},
		// Neither the operator nor the autoscaler reverts this.
		"scaled to zero by hand, under an autoscaler": {
			seen(photos().Autoscaling(1, 5), deployment(0)), stalled(degraded(v1alpha1.ReasonAutoscalingSuspended, "")),
		},
	})
}
