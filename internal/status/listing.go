package status

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Users may create pods and ReplicaSets with the labels of a Darkroom, of up to 1.5 MiB each. They are read in pages of
// pageSize, maxListed in all, and only what a diagnosis needs is kept of each.
const pageSize, maxListed = 8, 1024

// listPods returns the pods that are selected, as far as a diagnosis needs them. With an error, some may be missing.
func listPods(ctx context.Context, live client.Reader, selected []client.ListOption) (pods []corev1.Pod, err error) {
	err = visit(ctx, live, func() client.ObjectList { return &corev1.PodList{} }, selected, func(object runtime.Object) {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, diagnosable(pod))
		}
	})
	return pods, err
}

func diagnosable(pod *corev1.Pod) corev1.Pod {
	out := corev1.Pod{ObjectMeta: identity(&pod.ObjectMeta), Status: pod.Status}
	for _, container := range pod.Spec.Containers {
		out.Spec.Containers = append(out.Spec.Containers, corev1.Container{Name: container.Name, Ports: container.Ports})
	}
	return out
}

// listReplicaSets returns the ReplicaSets that are selected, as far as a diagnosis needs them.
func listReplicaSets(
	ctx context.Context, live client.Reader, selected []client.ListOption,
) (replicaSets []appsv1.ReplicaSet, err error) {
	err = visit(ctx, live, func() client.ObjectList { return &appsv1.ReplicaSetList{} }, selected,
		func(object runtime.Object) {
			replicaSet, ok := object.(*appsv1.ReplicaSet)
			if !ok {
				return
			}
			out := appsv1.ReplicaSet{ObjectMeta: identity(&replicaSet.ObjectMeta)}
			if revision, found := replicaSet.Annotations[revisionAnnotation]; found {
				out.Annotations = map[string]string{revisionAnnotation: revision}
			}
			replicaSets = append(replicaSets, out)
		})
	return replicaSets, err
}

// visit visits objects that are selected, with a new list for each page: no page is kept when the next is read.
func visit(
	ctx context.Context, live client.Reader, newList func() client.ObjectList,
	selected []client.ListOption, each func(runtime.Object),
) error {
	visited := 0
	for next := ""; visited < maxListed; {
		page := newList()
		if err := live.List(ctx, page, append([]client.ListOption{client.Limit(pageSize), client.Continue(next)},
			selected...)...); err != nil {
			return err
		}
		err := meta.EachListItem(page, func(object runtime.Object) error {
			visited++
			each(object)
			return nil
		})
		if next = page.GetContinue(); err != nil || next == "" {
			return err
		}
	}
	return nil
}

func identity(of *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: of.Namespace, Name: of.Name, UID: of.UID, OwnerReferences: of.OwnerReferences,
		CreationTimestamp: of.CreationTimestamp, DeletionTimestamp: of.DeletionTimestamp,
	}
}
