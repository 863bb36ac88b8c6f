package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// pod made so many minutes after noon, with the states of its containers.
func pod(name string, minutes int, containers ...corev1.ContainerStatus) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(minutes) * time.Minute))},
		Status:     corev1.PodStatus{ContainerStatuses: containers},
	}
}

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: containerName, Image: "gojektech/darkroom:v9",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}
}

// crashed is a container that ended, and waits to be started again.
func crashed(code int32, reason string, restarts int32) corev1.ContainerStatus {
	container := waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container")
	container.RestartCount = restarts
	container.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}
	return container
}

// ended is a container that crashed, with the message of its end.
func ended(code int32, reason, message string) corev1.ContainerStatus {
	container := crashed(code, reason, 2)
	container.LastTerminationState.Terminated.Message = message
	return container
}

var running = corev1.ContainerStatus{Name: containerName, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}

func unschedulable(name string) corev1.Pod {
	out := pod(name, 0)
	out.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/3 nodes are available: 3 Insufficient memory.",
	}}
	return out
}

func TestProblemOfThePods(t *testing.T) {
	deleted := pod("photos-1", 9, waiting("ImagePullBackOff", "not found"))
	deleted.DeletionTimestamp = &metav1.Time{Time: noon}
	imagePull := func(reason, message string) *Problem {
		return &Problem{v1alpha1.ReasonImagePullFailed, "Pod photos-1 cannot pull image gojektech/darkroom:v9: " + reason + ": " + message}
	}
	failing := func(words string) *Problem { return &Problem{v1alpha1.ReasonPodsFailing, "Pod photos-1: " + words} }
	for name, test := range map[string]struct {
		pods []corev1.Pod
		want *Problem
		why  string
	}{
		"no pods":         {},
		"a pod that runs": {pods: []corev1.Pod{pod("photos-1", 0, running)}},
		"no image":        {pods: []corev1.Pod{pod("photos-1", 0, waiting("ErrImagePull", "not found"))}, want: imagePull("ErrImagePull", "not found")},
		"no Secret": {
			pods: []corev1.Pod{pod("photos-1", 0, waiting("CreateContainerConfigError", `secret "keys" not found`))},
			want: failing(`CreateContainerConfigError: secret "keys" not found`),
		},
		"out of memory": {
			pods: []corev1.Pod{pod("photos-1", 0, crashed(137, "OOMKilled", 3))},
			want: failing("CrashLoopBackOff: exit code 137 (OOMKilled), restarted 3 times"),
			why:  "how it ended says more than that it is started again later",
		},
		"a program that does not exist": {
			pods: []corev1.Pod{pod("photos-1", 0, ended(128, "StartError", `exec: "./darkroom": stat ./darkroom: no such file or directory`))},
			want: failing(`CrashLoopBackOff: exit code 128 (StartError), restarted 2 times: exec: "./darkroom": stat ./darkroom: no such file or directory`),
		},
		"last words of a program": {
			pods: []corev1.Pod{pod("photos-1", 0, ended(1, "Error", "cannot log in with hunter2"))},
			want: failing("CrashLoopBackOff: exit code 1 (Error), restarted 2 times"),
			why:  "they may quote credentials",
		},
		"the second container": {
			pods: []corev1.Pod{pod("photos-1", 0, running, waiting("ErrImagePull", "not found"))}, want: imagePull("ErrImagePull", "not found"),
		},
		"no node": {
			pods: []corev1.Pod{unschedulable("photos-1")},
			want: &Problem{v1alpha1.ReasonUnschedulable, "Pod photos-1 cannot be scheduled: 0/3 nodes are available: 3 Insufficient memory."},
		},
		"a pod that is deleted": {pods: []corev1.Pod{deleted}},
		"the newest pod speaks first": {
			pods: []corev1.Pod{pod("photos-0", 1, crashed(1, "Error", 9)), pod("photos-1", 2, waiting("ErrImagePull", "not found"))},
			want: imagePull("ErrImagePull", "not found"),
			why:  "it runs what was asked for last",
		},
		"an older pod where the newest has no problem": {
			pods: []corev1.Pod{pod("photos-2", 3, running), pod("photos-1", 1, crashed(1, "Error", 9))},
			want: failing("CrashLoopBackOff: exit code 1 (Error), restarted 9 times"),
		},
		"of two as old as each other, the first": {
			pods: []corev1.Pod{pod("photos-1", 1, waiting("ErrImagePull", "not found")), pod("photos-0", 1, crashed(1, "Error", 9))},
			want: imagePull("ErrImagePull", "not found"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.why != "" {
				t.Log(test.why)
			}
			if diff := cmp.Diff(test.want, DetermineProblem(test.pods)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRestartsOfInitContainersAreSeen(t *testing.T) {
	injected := pod("photos-1", 0, waiting("PodInitializing", ""))
	injected.Status.InitContainerStatuses = []corev1.ContainerStatus{waiting("ImagePullBackOff", "not found")}
	if got := DetermineProblem([]corev1.Pod{injected}); got == nil || got.Reason != v1alpha1.ReasonImagePullFailed {
		t.Errorf("got %v", got)
	}
}
