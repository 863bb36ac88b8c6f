package diagnosis

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Evidence is everything that the caller can read about one Darkroom.
type Evidence struct {
	Darkroom *v1alpha1.Darkroom
	Pods     []corev1.Pod
	// Events are the events of the Darkroom and its pods, latest last.
	Events []corev1.Event
	// Objects are the objects that belong to the Darkroom, except for Secrets, which are never read.
	Objects []unstructured.Unstructured
	// Unread are the kinds that the caller may not read.
	Unread []string
}

// Gather reads a Darkroom, its pods, its events, and its objects of some kinds, as far as the caller is allowed to.
func Gather(
	ctx context.Context, cluster client.Client, key types.NamespacedName, kinds []schema.GroupVersionKind,
) (*Evidence, error) {
	e := &Evidence{Darkroom: &v1alpha1.Darkroom{}}
	if err := cluster.Get(ctx, key, e.Darkroom); err != nil {
		return nil, err
	}
	e.Darkroom.SetGroupVersionKind(v1alpha1.GroupVersionKind)
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
		e.Objects = append(e.Objects, list.Items...)
	}
	return e, nil
}

// list reads a list, and records if the caller may not read it.
func (e *Evidence) list(
	ctx context.Context, cluster client.Client, kind string, list client.ObjectList, options ...client.ListOption,
) error {
	switch err := cluster.List(ctx, list, options...); {
	case apierrors.IsForbidden(err):
		e.Unread = append(e.Unread, kind)
	case err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err):
		return fmt.Errorf("list each %s of the Darkroom: %w", kind, err)
	}
	return nil
}

// gatherPods lists the pods by the selector in the status. A Darkroom without a Deployment has none.
func (e *Evidence) gatherPods(ctx context.Context, cluster client.Client) error {
	selector, err := labels.Parse(e.Darkroom.Status.Selector)
	if err != nil || selector.Empty() {
		return err
	}
	pods := &corev1.PodList{}
	err = e.list(ctx, cluster, "Pod", pods, client.InNamespace(e.Darkroom.Namespace),
		client.MatchingLabelsSelector{Selector: selector})
	e.Pods = pods.Items
	return err
}

func (e *Evidence) gatherEvents(ctx context.Context, cluster client.Client) error {
	involved := []client.Object{e.Darkroom}
	for i := range e.Pods {
		involved = append(involved, &e.Pods[i])
	}
	for _, object := range involved {
		events := &corev1.EventList{}
		selector := client.MatchingFieldsSelector{
			Selector: fields.OneTermEqualSelector("involvedObject.uid", string(object.GetUID())),
		}
		if err := e.list(ctx, cluster, "Event", events, client.InNamespace(object.GetNamespace()), selector); err != nil {
			return err
		}
		e.Events = append(e.Events, events.Items...)
	}
	slices.SortStableFunc(e.Events, func(a, b corev1.Event) int { return lastSeen(&a).Compare(lastSeen(&b)) })
	slices.Sort(e.Unread)
	e.Unread = slices.Compact(e.Unread)
	return nil
}
