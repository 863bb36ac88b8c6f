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

// DetermineProblem returns the cause of pods that are not ready; nil if unknown. It returns the first problem of the
// newest pod with a problem, because the newest pod has the latest template.
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
	// Sidecars of service meshes are init containers.
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

// runtimeReasons are reasons of containers that the container runtime could not start. The message then comes from the
// runtime. For other reasons, it may come from the program and quote credentials.
var runtimeReasons = []string{"StartError", "ContainerCannotRun"}

// crash describes how the last run of a crashing container ended; it returns the message if there was no run.
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

// startPatience is the time within which a container normally becomes ready.
const startPatience = 5 * time.Second

// notReady returns pods whose container is running but that are not ready, longest running first.
func notReady(pods []corev1.Pod) []corev1.Pod {
	pods = slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Status.PodIP == "" || isPodReady(&pod) || startedAt(&pod).IsZero()
	})
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int { return startedAt(&a).Compare(startedAt(&b)) })
	return pods
}

// startingPod returns a pod of a ReplicaSet to probe for the reason why it does not become ready: the first of the
// given pods that has been running for startPatience. If there is none, wait is the time until there will be one; 0 if
// no pod is starting.
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

// startedAt returns the start time of a pod's Darkroom container; zero if the container is not running.
func startedAt(pod *corev1.Pod) time.Time {
	for _, container := range pod.Status.ContainerStatuses {
		if container.Name == containerName {
			return ptr.Deref(container.State.Running, corev1.ContainerStateRunning{}).StartedAt.Time
		}
	}
	return time.Time{}
}
