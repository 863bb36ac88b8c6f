package release

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// ErrForeignObject is returned if an object of the same kind and name exists but does not belong to the Darkroom. The
// object is never changed.
var ErrForeignObject = errors.New("the object exists and does not belong to this Darkroom")

// liveUID reads the UID of an object from the API server; empty if the object does not exist. The error is
// ErrForeignObject if another object controls it. Unlike lookUp, it does not require the label, which the write restores.
func (c *ActionClient) liveUID(object *unstructured.Unstructured) (types.UID, error) {
	existing, err := c.readMetadata(object.GroupVersionKind(), object.GetName())
	switch {
	case err != nil || existing == nil:
		return "", err
	case !metav1.IsControlledBy(existing, c.darkroom):
		return "", ForeignObject(manifest.KeyOf(object), existing)
	}
	return existing.GetUID(), nil
}

// ForeignObject returns the ErrForeignObject of an existing object, with the remedy.
func ForeignObject(key manifest.Key, existing metav1.Object) error {
	return fmt.Errorf("%s: %w: %s: rename the Darkroom, or delete that object if nothing needs it",
		key, ErrForeignObject, ownership.Owner(existing))
}
