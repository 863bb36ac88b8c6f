package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// evidence contains everything that the caller can read about one Darkroom. The commands status and report show it
// without credentials.
type evidence struct {
	darkroom *v1alpha1.Darkroom
	pods     []corev1.Pod
	// events are the events of the Darkroom and its pods, latest last.
	events []corev1.Event
	// objects are the objects that belong to the Darkroom, except for Secrets, which are never read.
	objects []unstructured.Unstructured
	// unread are the kinds that the caller may not read.
	unread []string
}

// gather reads a Darkroom with its pods and events, and optionally with its other objects.
func (s *subject) gather(
	ctx context.Context, name string, withObjects bool,
) (*evidence, *rest.Config, error) {
	cluster, kubeconfig, namespace, err := s.connect()
	if err != nil {
		return nil, nil, err
	}
	var kinds []schema.GroupVersionKind
	if withObjects {
		if kinds, err = kindsOfObjects(ctx, kubeconfig); err != nil {
			return nil, nil, err
		}
	}
	e, err := gatherEvidence(ctx, cluster, types.NamespacedName{Namespace: namespace, Name: name}, kinds)
	return e, kubeconfig, notFound(err, name, namespace)
}

// kindsOfObjects returns the kinds of managed objects, except for Secrets, and ReplicaSets.
func kindsOfObjects(ctx context.Context, kubeconfig *rest.Config) ([]schema.GroupVersionKind, error) {
	served, err := discover(ctx, kubeconfig)
	if err != nil {
		return nil, err
	}
	kinds := slices.DeleteFunc(served.Managed(), func(kind schema.GroupVersionKind) bool { return kind.Kind == "Secret" })
	return append(kinds, appsv1.SchemeGroupVersion.WithKind("ReplicaSet")), nil
}

// gatherEvidence reads a Darkroom, its pods, its events, and its objects of some kinds, as far as the caller is
// allowed to.
func gatherEvidence(
	ctx context.Context, cluster client.Client, key types.NamespacedName, kinds []schema.GroupVersionKind,
) (*evidence, error) {
	e := &evidence{darkroom: &v1alpha1.Darkroom{}}
	if err := cluster.Get(ctx, key, e.darkroom); err != nil {
		return nil, err
	}
	e.darkroom.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	if err := e.gatherPods(ctx, cluster); err != nil {
		return nil, err
	}
	if err := e.gatherEvents(ctx, cluster); err != nil {
		return nil, err
	}
	mine := []client.ListOption{client.InNamespace(key.Namespace), client.MatchingLabels{v1alpha1.LabelDarkroom: key.Name}}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := e.list(ctx, cluster, kind.Kind, list, mine...); err != nil {
			return nil, err
		}
		e.objects = append(e.objects, list.Items...)
	}
	return e, nil
}

// list reads a list, and records if the caller may not read it.
func (e *evidence) list(
	ctx context.Context, cluster client.Client, kind string, list client.ObjectList, options ...client.ListOption,
) error {
	switch err := cluster.List(ctx, list, options...); {
	case apierrors.IsForbidden(err):
		e.unread = append(e.unread, kind)
	case err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err):
		return fmt.Errorf("list each %s of the Darkroom: %w", kind, err)
	}
	return nil
}

// gatherPods lists the pods by the selector in the status. A Darkroom without a Deployment has none.
func (e *evidence) gatherPods(ctx context.Context, cluster client.Client) error {
	selector, err := labels.Parse(e.darkroom.Status.Selector)
	if err != nil || selector.Empty() {
		return err
	}
	pods := &corev1.PodList{}
	err = e.list(ctx, cluster, "Pod", pods, client.InNamespace(e.darkroom.Namespace),
		client.MatchingLabelsSelector{Selector: selector})
	e.pods = pods.Items
	return err
}

func (e *evidence) gatherEvents(ctx context.Context, cluster client.Client) error {
	involved := []client.Object{e.darkroom}
	for i := range e.pods {
		involved = append(involved, &e.pods[i])
	}
	for _, object := range involved {
		events := &corev1.EventList{}
		selector := client.MatchingFieldsSelector{
			Selector: fields.OneTermEqualSelector("involvedObject.uid", string(object.GetUID())),
		}
		if err := e.list(ctx, cluster, "Event", events, client.InNamespace(object.GetNamespace()), selector); err != nil {
			return err
		}
		e.events = append(e.events, events.Items...)
	}
	slices.SortStableFunc(e.events, func(a, b corev1.Event) int { return lastSeen(&a).Compare(lastSeen(&b)) })
	slices.Sort(e.unread)
	e.unread = slices.Compact(e.unread)
	return nil
}

func lastSeen(event *corev1.Event) time.Time {
	return cmp.Or(event.LastTimestamp, metav1.Time(event.EventTime), event.CreationTimestamp).Time
}
