package storage

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// ErrForeignRelease is the cause of a *ForeignError.
var ErrForeignRelease = errors.New("a Helm release of this name exists and does not belong to this Darkroom")

// ErrPredecessor is returned while revisions of a deleted Darkroom of the same name are
// still there. Kubernetes deletes them, because their owner is gone.
var ErrPredecessor = errors.New("the release of a deleted Darkroom of this name is still being removed")

// ForeignError reports that Helm has a release of a Darkroom's name, in any state, that
// does not belong to the Darkroom. Nothing was written.
type ForeignError struct {
	// Release is the name of the release, and of the Darkroom.
	Release types.NamespacedName
}

// Error names the ways out.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("Helm release %s exists in namespace %s and does not belong to this Darkroom: "+
		"rename the Darkroom, uninstall the release with helm, or adopt it with the annotation %s=%s on the Darkroom",
		e.Release.Name, e.Release.Namespace, v1alpha1.AnnotationAdoptRelease, e.Release.Name)
}

// Unwrap returns ErrForeignRelease.
func (*ForeignError) Unwrap() error { return ErrForeignRelease }

// IsForeign reports whether there are revisions of a Darkroom's release that belong to no
// Darkroom. It costs no request while the caches show none.
func (r *Revisions) IsForeign(ctx context.Context) (bool, error) {
	if used, err := r.isUsed(ctx); err != nil || !used {
		return false, err
	}
	// The caches may lag behind the adoption of the release.
	_, err := r.stored(ctx)
	if errors.Is(err, ErrForeignRelease) {
		return true, nil
	}
	if errors.Is(err, ErrPredecessor) {
		return false, nil
	}
	return false, err
}

// checkForeign returns a *ForeignError unless all revisions belong to the Darkroom, or
// ErrPredecessor if the others belong to Darkrooms that are gone: two Darkrooms of one
// name cannot exist at one time.
func (r *Revisions) checkForeign(revisions []metav1.Object) error {
	predecessor := false
	for _, revision := range revisions {
		if ownership.OwnsRevision(r.darkroom, revision) {
			continue
		}
		if metav1.GetControllerOfNoCopy(revision) == nil || ownership.UID(revision) == "" {
			return &ForeignError{Release: r.key()}
		}
		predecessor = true
	}
	if predecessor {
		return fmt.Errorf("release %s: %w", r.key(), ErrPredecessor)
	}
	return nil
}
