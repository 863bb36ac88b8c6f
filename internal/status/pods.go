package status

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Reasons of the kubelet for a waiting container that is unlikely to start.
var (
	imageReasons  = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"}
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
			return &Problem{v1alpha1.ReasonPodsFailing, fmt.Sprintf("Pod %s: %s: %s", pod.Name, waiting.Reason, crash(container, waiting.Message))}
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonUnschedulable {
			return &Problem{v1alpha1.ReasonUnschedulable, fmt.Sprintf("Pod %s cannot be scheduled: %s", pod.Name, condition.Message)}
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
