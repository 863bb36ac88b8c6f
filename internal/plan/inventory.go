package plan

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// objects are the objects of one Darkroom.
type objects map[manifest.Key]*unstructured.Unstructured

// inventory contains the live objects of each Darkroom by UID, without fields that plans do not need.
type inventory map[types.UID]objects

// pageSize is the number of objects per List request.
const pageSize = 250

// inventory reads the objects of all Darkrooms in a namespace; empty means all. Only the names of Secrets are read.
func (p Planner) inventory(ctx context.Context, namespace string) (inventory, error) {
	out := inventory{}
	for _, kind := range p.Kinds {
		for next := ""; ; {
			var list client.ObjectList = &unstructured.UnstructuredList{}
			if kind.Kind == "Secret" {
				list = &metav1.PartialObjectMetadataList{}
			}
			list.GetObjectKind().SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			err := p.Client.List(ctx, list, client.HasLabels{v1alpha1.LabelDarkroom}, client.InNamespace(namespace),
				client.Limit(pageSize), client.Continue(next))
			if err == nil {
				err = meta.EachListItem(list, out.add)
			}
			if err != nil {
				return nil, fmt.Errorf("list each %s of a Darkroom: %w", kind.Kind, err)
			}
			if next = list.GetContinue(); next == "" {
				break
			}
		}
	}
	return out, nil
}

func (i inventory) add(item runtime.Object) error {
	object, isFull := item.(*unstructured.Unstructured)
	if !isFull {
		secret, isMetadata := item.(*metav1.PartialObjectMetadata)
		if !isMetadata {
			return errors.New("a list has an item of another type")
		}
		if secret.Labels["owner"] == "helm" {
			return nil // a revision of the release
		}
		object = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
		object.SetName(secret.Name)
		object.SetNamespace(secret.Namespace)
		object.SetUID(secret.UID)
		object.SetLabels(secret.Labels)
		object.SetOwnerReferences(secret.OwnerReferences)
	}
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil || owner.Kind != v1alpha1.Kind || owner.Name != object.GetLabels()[v1alpha1.LabelDarkroom] {
		return nil
	}
	prune(object)
	if i[owner.UID] == nil {
		i[owner.UID] = objects{}
	}
	i[owner.UID][manifest.KeyOf(object)] = object
	return nil
}

// prune removes fields that change without the operator.
func prune(object *unstructured.Unstructured) {
	object.SetManagedFields(nil)
	object.SetResourceVersion("")
	object.SetGeneration(0)
	unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(object.Object, "metadata", "annotations", v1alpha1.AnnotationRollout)
	delete(object.Object, "status")
}
