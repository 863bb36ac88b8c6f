package status

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// startPatience is the time in which a container becomes ready unless something is wrong.
const startPatience = 5 * time.Second

// currentReplicaSet returns the UID of the ReplicaSet that a Deployment creates pods with;
// empty if it is not among these.
func currentReplicaSet(deployment *appsv1.Deployment, replicaSets []appsv1.ReplicaSet) types.UID {
	for i := range replicaSets {
		replicaSet := &replicaSets[i]
		if metav1.IsControlledBy(replicaSet, deployment) &&
			replicaSet.Annotations[revisionAnnotation] == deployment.Annotations[revisionAnnotation] {
			return replicaSet.UID
		}
	}
	return ""
}

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
