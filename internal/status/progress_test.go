package status

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// TestToolsThatWaitUnderstandTheStatus uses the library of Flux, Helm 4 and other tools that
// wait for objects, and the health check for Argo CD.
func TestToolsThatWaitUnderstandTheStatus(t *testing.T) {
	late := deploymentSays(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", "timed out")
	rolledOut := deploymentSays(appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonRolledOut, "")
	starting := deployment(2, pods(2, 2, 0, 0))
	failing := func(since time.Duration) *darkrooms.Builder {
		failed := failure(v1alpha1.ConditionReleaseFailed, v1alpha1.ReasonUpgradeError, "quota exceeded", 2)
		failed.LastTransitionTime = metav1.NewTime(noon.Add(-since))
		return photos().Condition(failed)
	}
	ask := argoCDCheck(t)
	problem := func(reason string) *Problem { return &Problem{reason, "a pod has trouble"} }
	taken := refusedBy(host, "team-b", "theirs")
	leaving := claims.Refusal{Host: host, Owner: taken.Owner, Leaving: true}
	keys := photos().S3("images", "eu-west-2").CredentialsSecret("keys")
	for name, test := range map[string]struct {
		observation Observation
		want        kstatus.Status
		condition   string // Reconciling, Stalled or none
	}{
		"just created":        {Observation{Darkroom: darkrooms.New("photos", "team-a").Obj()}, kstatus.InProgressStatus, "Reconciling"},
		"rolling out":         {Observation{Darkroom: photos().Obj(), Deployment: starting, Ingress: ingress(host)}, kstatus.InProgressStatus, "Reconciling"},
		"awaiting a Gateway":  {Observation{Darkroom: photos().Gateway("public").Obj(), Deployment: deployment(2), Route: route([]string{host})}, kstatus.InProgressStatus, "Reconciling"},
		"ready":               {Observation{Darkroom: photos().Obj(), Deployment: deployment(2), Ingress: ingress(host)}, kstatus.CurrentStatus, ""},
		"scaled up":           {Observation{Darkroom: photos().Obj(), Deployment: deployment(5, pods(5, 5, 2, 2), rolledOut), Ingress: ingress(host)}, kstatus.InProgressStatus, "Reconciling"},
		"being deleted":       {Observation{Darkroom: photos().Deleting(metav1.NewTime(noon)).Obj()}, kstatus.TerminatingStatus, ""},
		"paused":              {Observation{Darkroom: photos().Paused().Obj(), Deployment: deployment(2), Ingress: ingress(host)}, kstatus.InProgressStatus, ""},
		"a pod that was lost": {Observation{Darkroom: photos().Status(func(s *v1alpha1.DarkroomStatus) { s.ReadyReplicas = 2 }).Obj(), Deployment: deployment(2, pods(2, 2, 1, 1), rolledOut), Ingress: ingress(host)}, kstatus.InProgressStatus, "Reconciling"},

		"refused": {
			Observation{Darkroom: photos().Condition(failure(v1alpha1.ConditionIrreconcilable, v1alpha1.ReasonErrorGettingValues, "spec.version: Invalid", 2)).Obj()},
			kstatus.FailedStatus, "Stalled",
		},
		"the upgrade has just failed":              {Observation{Darkroom: failing(retryPeriod - time.Second).Obj()}, kstatus.InProgressStatus, "Reconciling"},
		"the upgrade keeps failing":                {Observation{Darkroom: failing(retryPeriod).Obj()}, kstatus.FailedStatus, "Stalled"},
		"an image that cannot be pulled":           {Observation{Darkroom: photos().Obj(), Deployment: starting, Problem: problem(v1alpha1.ReasonImagePullFailed)}, kstatus.FailedStatus, "Stalled"},
		"no node, and one may be added":            {Observation{Darkroom: photos().Obj(), Deployment: starting, Problem: problem(v1alpha1.ReasonUnschedulable)}, kstatus.InProgressStatus, "Reconciling"},
		"no node, and none was added":              {Observation{Darkroom: photos().Obj(), Deployment: deployment(2, pods(2, 2, 0, 0), late), Problem: problem(v1alpha1.ReasonUnschedulable)}, kstatus.FailedStatus, "Stalled"},
		"a Secret that may yet be created":         {Observation{Darkroom: keys.Obj(), Deployment: starting, Secret: Secret{Name: "keys"}}, kstatus.InProgressStatus, "Reconciling"},
		"a Secret that was not created in time":    {Observation{Darkroom: keys.Obj(), Deployment: deployment(2, pods(2, 2, 0, 0), late), Secret: Secret{Name: "keys"}}, kstatus.FailedStatus, "Stalled"},
		"a host that belongs to another":           {Observation{Darkroom: photos().Obj(), Deployment: deployment(2), Refused: []claims.Refusal{taken}}, kstatus.FailedStatus, "Stalled"},
		"a host that another is about to let go":   {Observation{Darkroom: photos().Obj(), Deployment: deployment(2), Refused: []claims.Refusal{leaving}}, kstatus.InProgressStatus, "Reconciling"},
		"a host that is taken, and one to be free": {Observation{Darkroom: photos().Obj(), Deployment: deployment(2), Refused: []claims.Refusal{leaving, taken}}, kstatus.FailedStatus, "Stalled"},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.observation
			o.Hosts, o.Now = []string{host}, noon
			report := Determine(o)
			darkroom := o.Darkroom.DeepCopy()
			darkroom.Status = report
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(darkroom)
			if err != nil {
				t.Fatal(err)
			}
			result, err := kstatus.Compute(&unstructured.Unstructured{Object: fields})
			if err != nil {
				t.Fatal(err)
			}
			if result.Status != test.want {
				t.Errorf("kstatus takes it for %s (%s), want %s", result.Status, result.Message, test.want)
			}
			wantHealth := argoCDHealth[test.want]
			if darkroom.Status.Phase == v1alpha1.PhasePaused {
				wantHealth = "Suspended" // kstatus has no such state
			}
			if health, message := ask(&unstructured.Unstructured{Object: fields}); health != wantHealth || message != report.Message {
				t.Errorf("Argo CD shows %s with the message %q, want %s with %q", health, message, wantHealth, report.Message)
			}
			ready := v1alpha1.FindCondition(report.Conditions, v1alpha1.ConditionReady)
			for _, conditionType := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
				got := v1alpha1.FindCondition(report.Conditions, conditionType)
				switch {
				case (got != nil) != (conditionType == test.condition):
					t.Errorf("%s is %+v", conditionType, got)
				case got != nil && (got.Status != metav1.ConditionTrue || got.Reason != ready.Reason || got.Message != ready.Message || got.ObservedGeneration != ready.ObservedGeneration):
					t.Errorf("%s says %+v, Ready %+v", conditionType, got, ready)
				}
			}
		})
	}
}

// TestADarkroomWithoutStatusIsNotDone is about the moment before the first report:
// the default of the CRD keeps kstatus from taking it for one that has no conditions.
func TestADarkroomWithoutStatusIsNotDone(t *testing.T) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(darkrooms.New("photos", "team-a").Obj())
	if err != nil {
		t.Fatal(err)
	}
	fields["status"] = map[string]any{"observedGeneration": int64(-1)}
	object := &unstructured.Unstructured{Object: fields}
	result, err := kstatus.Compute(object)
	if err != nil || result.Status != kstatus.InProgressStatus {
		t.Errorf("kstatus takes it for %+v (%v)", result, err)
	}
	if health, _ := argoCDCheck(t)(object); health != "Progressing" {
		t.Errorf("Argo CD shows %s", health)
	}
}
