package status

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// Reasons of the kubelet for a waiting container that is unlikely to start.
var (
	imageReasons = []string{
		"ErrImagePull", "ImagePullBackOff", "InvalidImageName",
		"ErrImageNeverPull", "ImageInspectError",
	}
	configReasons = []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"}
)

// DetermineProblem returns the cause of pods that are not ready; nil if none is known. Of
// several problems it returns the first one of the newest pod, which has the latest
// template.
func DetermineProblem(pods []corev1.Pod) *Problem {
	pods = slices.Clone(pods)
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	for i := range pods {
		if problem := podProblem(&pods[i]); problem != nil {
			return problem
		}
	}
	return nil
}

func podProblem(pod *corev1.Pod) *Problem {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	// Service meshes put sidecars among the init containers.
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		waiting := container.State.Waiting
		switch {
		case waiting == nil:
			continue
		case slices.Contains(imageReasons, waiting.Reason):
			return &Problem{
				v1alpha1.ReasonImagePullFailed,
				fmt.Sprintf("Pod %s cannot pull image %s: %s: %s", pod.Name, container.Image, waiting.Reason, waiting.Message),
			}
		case slices.Contains(configReasons, waiting.Reason):
			return &Problem{
				v1alpha1.ReasonPodsFailing,
				fmt.Sprintf("Pod %s: %s: %s", pod.Name, waiting.Reason, crash(container, waiting.Message)),
			}
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse &&
			condition.Reason == corev1.PodReasonUnschedulable {
			return &Problem{
				v1alpha1.ReasonUnschedulable,
				fmt.Sprintf("Pod %s cannot be scheduled: %s", pod.Name, condition.Message),
			}
		}
	}
	return nil
}

// runtimeReasons are the reasons of a container that the runtime could not start. Its
// message is then the runtime's. Others may be of a program, and quote credentials.
var runtimeReasons = []string{"StartError", "ContainerCannotRun"}

// crash returns how the last run of a container that waits for its restart ended; the message
// if there was none.
func crash(container corev1.ContainerStatus, message string) string {
	ended := container.LastTerminationState.Terminated
	if ended == nil {
		return message
	}
	cause := fmt.Sprintf("exit code %d (%s), restarted %d times", ended.ExitCode, ended.Reason, container.RestartCount)
	if ended.Message != "" && slices.Contains(runtimeReasons, ended.Reason) {
		cause += ": " + ended.Message
	}
	return cause
}

// startPatience is the time in which a container becomes ready unless something is wrong.
const startPatience = 5 * time.Second

// notReady returns the pods whose container runs although they are not ready, the longest
// running first.
func notReady(pods []corev1.Pod) []corev1.Pod {
	pods = slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Status.PodIP == "" || isPodReady(&pod) || startedAt(&pod).IsZero()
	})
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int { return startedAt(&a).Compare(startedAt(&b)) })
	return pods
}

// startingPod returns the pod of a ReplicaSet to ask why it does not become ready: of the
// pods that are notReady the first one that has had time for it. Without one, wait is when
// there may be one; 0 if there is nothing to wait for.
func startingPod(pods []corev1.Pod, replicaSet types.UID, now time.Time) (pod probe.Pod, wait time.Duration) {
	for i := range pods {
		if owner := metav1.GetControllerOf(&pods[i]); owner == nil || owner.UID != replicaSet {
			continue
		}
		if wait = startPatience - now.Sub(startedAt(&pods[i])); wait > 0 {
			return probe.Pod{}, wait
		}
		return probe.PodOf(&pods[i]), 0
	}
	return probe.Pod{}, 0
}

func isPodReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}

// startedAt returns when Darkroom's container of a pod was started; zero if it does not run.
func startedAt(pod *corev1.Pod) time.Time {
	for _, container := range pod.Status.ContainerStatuses {
		if container.Name == containerName {
			return ptr.Deref(container.State.Running, corev1.ContainerStateRunning{}).StartedAt.Time
		}
	}
	return time.Time{}
}
