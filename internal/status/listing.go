package status

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Users may create pods and ReplicaSets with the labels of a Darkroom, of up to 1.5 MiB each. They are read in pages of
// pageSize, maxListed in all, and only what a diagnosis needs is kept of each.
const pageSize, maxListed = 8, 1024

// listPods returns the pods that are selected, as far as a diagnosis needs them.
func listPods(ctx context.Context, live client.Reader, selected []client.ListOption) (pods []corev1.Pod, err error) {
	for next := ""; len(pods) < maxListed; {
		page := &corev1.PodList{}
		if err := live.List(ctx, page, append([]client.ListOption{client.Limit(pageSize), client.Continue(next)}, selected...)...); err != nil {
			return pods, err
		}
		for i := range page.Items {
			pods = append(pods, diagnosable(&page.Items[i]))
		}
		if next = page.Continue; next == "" {
			break
		}
	}
	return pods, nil
}

func diagnosable(pod *corev1.Pod) corev1.Pod {
	out := corev1.Pod{ObjectMeta: identity(&pod.ObjectMeta), Status: pod.Status}
	for _, container := range pod.Spec.Containers {
		out.Spec.Containers = append(out.Spec.Containers, corev1.Container{Name: container.Name, Ports: container.Ports})
	}
	return out
}

// listReplicaSets returns the ReplicaSets that are selected, as far as a diagnosis needs them.
func listReplicaSets(ctx context.Context, live client.Reader, selected []client.ListOption) (replicaSets []appsv1.ReplicaSet, err error) {
	for next := ""; len(replicaSets) < maxListed; {
		page := &appsv1.ReplicaSetList{}
		if err := live.List(ctx, page, append([]client.ListOption{client.Limit(pageSize), client.Continue(next)}, selected...)...); err != nil {
			return nil, err
		}
		for i := range page.Items {
			from := &page.Items[i].ObjectMeta
			out := appsv1.ReplicaSet{ObjectMeta: identity(from)}
			if revision, found := from.Annotations[revisionAnnotation]; found {
				out.Annotations = map[string]string{revisionAnnotation: revision}
			}
			replicaSets = append(replicaSets, out)
		}
		if next = page.Continue; next == "" {
			break
		}
	}
	return replicaSets, nil
}

func identity(of *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: of.Namespace, Name: of.Name, UID: of.UID, OwnerReferences: of.OwnerReferences,
		CreationTimestamp: of.CreationTimestamp, DeletionTimestamp: of.DeletionTimestamp,
	}
}
