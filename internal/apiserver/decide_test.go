package apiserver

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestPodsAreDescribedByTheirProblem(t *testing.T) {
	for name, c := range map[string]struct {
		status corev1.PodStatus
		want   Pod
	}{
		"nothing known": {corev1.PodStatus{}, Pod{Phase: "Unknown"}},
		"ready": {
			corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
			Pod{Phase: "Running", Ready: true},
		},
		"no node": {
			corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no room"}}},
			Pod{Phase: "Pending", Reason: "Unschedulable", Message: "no room"},
		},
		"crashing": {
			corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
				RestartCount: 3, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", Message: "exit 1"}},
			}}},
			Pod{Phase: "Running", Restarts: 3, Reason: "Error", Message: "exit 1"},
		},
	} {
		if got := describePod(&corev1.Pod{Status: c.status}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestLoopbackAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:5000": true, "localhost:5000": true, "[::1]:5000": true, "127.8.8.8:1": true,
		":5000": false, "0.0.0.0:5000": false, "[::]:5000": false, "10.0.0.1:5000": false, "127.0.0.1": false, "localhost.example.com:5000": false,
	} {
		if isLoopback(address) != want {
			t.Errorf("%s is of this machine alone: %t", address, !want)
		}
	}
}

func TestWhoGetsAHost(t *testing.T) {
	made := func(namespace string, age int64, subDomains ...string) *v1alpha1.Darkroom {
		return &v1alpha1.Darkroom{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos", CreationTimestamp: metav1.Unix(1000-age, 0)},
			Spec:       v1alpha1.DarkroomSpec{SubDomains: subDomains},
		}
	}
	leaving := made("c", 100, "cats")
	leaving.DeletionTimestamp = &metav1.Time{}
	for name, c := range map[string]struct {
		before *v1alpha1.Darkroom
		others []*v1alpha1.Darkroom
		want   string
	}{
		"no one has it":                    {nil, nil, hostFree},
		"others have others":               {nil, []*v1alpha1.Darkroom{made("a", 5, "dogs")}, hostFree},
		"a new one comes last":             {nil, []*v1alpha1.Darkroom{made("z", 0, "cats")}, hostTaken},
		"it has it already":                {made("b", 5, "cats"), nil, hostOwn},
		"it adds one that is free":         {made("b", 5, "dogs"), nil, hostFree},
		"it adds one of an older":          {made("b", 5), []*v1alpha1.Darkroom{made("c", 6, "cats")}, hostTaken},
		"it adds one of a younger":         {made("b", 5), []*v1alpha1.Darkroom{made("a", 4, "cats")}, hostOwn},
		"of one age the name decides":      {made("b", 5), []*v1alpha1.Darkroom{made("a", 5, "cats")}, hostTaken},
		"the oldest of several decides":    {made("b", 5), []*v1alpha1.Darkroom{made("a", 4, "cats"), made("c", 6, "cats")}, hostTaken},
		"one that is deleted has no claim": {nil, []*v1alpha1.Darkroom{leaving}, hostFree},
	} {
		wanted := made("b", 0, "cats")
		rival := oldestRivals(wanted, append(c.others, made("b", 5, "cats")))["cats"]
		if got := hostState(c.before, rival, "cats"); got != c.want {
			t.Errorf("%s: the host is %s, want %s", name, got, c.want)
		}
	}
}
