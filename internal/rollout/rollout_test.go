package rollout

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// state returns a Deployment that requests the wanted number of pods and has the given numbers of pods, updated pods
// and available pods.
func state(wanted, all, updated, available int32, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	out := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Generation: 5},
		Spec:       appsv1.DeploymentSpec{Replicas: &wanted},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 5, Replicas: all, UpdatedReplicas: updated,
			AvailableReplicas: available,
		},
	}
	for _, change := range changes {
		change(out)
	}
	return out
}

func progressing(status corev1.ConditionStatus, reason string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Conditions = append(d.Status.Conditions,
			appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: status, Reason: reason})
	}
}

func TestStagesOfARollout(t *testing.T) {
	notObserved := func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 4 }
	paused := func(d *appsv1.Deployment) { d.Spec.Paused = true }
	deleted := func(d *appsv1.Deployment) { d.DeletionTimestamp = &metav1.Time{} }
	noNumber := func(d *appsv1.Deployment) { d.Spec.Replicas = nil }
	ended := progressing(corev1.ConditionTrue, "NewReplicaSetAvailable")
	late := progressing(corev1.ConditionFalse, "ProgressDeadlineExceeded")
	for name, test := range map[string]struct {
		deployment                          *appsv1.Deployment
		current, complete, overdue, rolling bool
	}{
		"complete":                          {deployment: state(3, 3, 3, 3), current: true, complete: true},
		"complete, with the condition":      {deployment: state(3, 3, 3, 3, ended), current: true, complete: true},
		"the default of one pod":            {deployment: state(0, 1, 1, 1, noNumber), current: true, complete: true},
		"the default of one pod is missing": {deployment: state(0, 0, 0, 0, noNumber), current: true, rolling: true},
		"not observed":                      {deployment: state(3, 3, 3, 3, notObserved), rolling: true},
		"no pod yet":                        {deployment: state(3, 0, 0, 0), current: true, rolling: true},
		"one pod is updated":                {deployment: state(3, 4, 1, 3), rolling: true},
		"an old pod remains":                {deployment: state(3, 4, 3, 3), rolling: true},
		"a new pod is missing":              {deployment: state(3, 2, 2, 2), current: true, rolling: true},
		"a new pod is not ready":            {deployment: state(3, 3, 3, 2), current: true, rolling: true},
		"one pod too many":                  {deployment: state(2, 3, 3, 2, ended), current: true, complete: true},
		"overdue":                           {deployment: state(3, 4, 1, 3, late), overdue: true},
		"overdue, with a newer change":      {deployment: state(3, 4, 1, 3, late, notObserved), overdue: true, rolling: true},
		"pods were lost":                    {deployment: state(3, 3, 3, 2, ended), current: true},
		"scaled to zero":                    {deployment: state(0, 0, 0, 0), current: true, complete: true},
		"to be scaled to zero":              {deployment: state(0, 2, 2, 2, notObserved)},
		"paused":                            {deployment: state(3, 4, 1, 3, paused)},
		"deleted":                           {deployment: state(3, 4, 1, 3, deleted)},
	} {
		t.Run(name, func(t *testing.T) {
			d := test.deployment
			got := fmt.Sprintf("current %t, complete %t, overdue %t, rolling %t", IsCurrent(d), IsComplete(d),
				IsOverdue(d), IsRolling(d))
			want := fmt.Sprintf("current %t, complete %t, overdue %t, rolling %t", test.current, test.complete,
				test.overdue, test.rolling)
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
