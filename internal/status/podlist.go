package status

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Users can create any number of pods and ReplicaSets with the labels of a Darkroom, of up to 1.5 MiB each. So they are
// read in pages of pageSize, at most maxListed in total, and only the fields needed for a diagnosis are kept.
const pageSize, maxListed = 8, 1024

// listPods returns the selected pods with the fields needed for a diagnosis. If there is an error, some pods may be
// missing.
func listPods(ctx context.Context, live client.Reader, selected []client.ListOption) (pods []corev1.Pod, err error) {
	err = visit(ctx, live, func() client.ObjectList { return &corev1.PodList{} }, selected, func(object runtime.Object) {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, diagnosable(pod))
		}
	})
	return pods, err
}

func diagnosable(pod *corev1.Pod) corev1.Pod {
	out := corev1.Pod{Status: pod.Status, ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, OwnerReferences: pod.OwnerReferences,
		CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
	}}
	for _, container := range pod.Spec.Containers {
		out.Spec.Containers = append(out.Spec.Containers, corev1.Container{Name: container.Name, Ports: container.Ports})
	}
	return out
}

// currentReplicaSet returns the UID of the ReplicaSet that currently creates the pods of a Deployment; empty if it is
// not among the selected ones.
func currentReplicaSet(
	ctx context.Context, live client.Reader, deployment *appsv1.Deployment, selected []client.ListOption,
) (uid types.UID, err error) {
	err = visit(ctx, live, func() client.ObjectList { return &appsv1.ReplicaSetList{} }, selected,
		func(object runtime.Object) {
			if replicaSet, ok := object.(*appsv1.ReplicaSet); ok && metav1.IsControlledBy(replicaSet, deployment) &&
				replicaSet.Annotations[revisionAnnotation] == deployment.Annotations[revisionAnnotation] {
				uid = replicaSet.UID
			}
		})
	return uid, err
}

// visit visits selected objects. Each page is read into a new list, so that only one page is in memory.
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
