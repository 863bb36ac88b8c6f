package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// Foreign returns the revisions of the release of a Darkroom's name that belong to no Darkroom,
// so that it can be adopted, the newest first; none if there is no such release. It fails if
// one of them is of another chart, is controlled by another object, or is pending, or if none is
// deployed.
func (r *Revisions) Foreign(ctx context.Context, chart string) ([]*helmrelease.Release, error) {
	secrets, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	var foreign []*helmrelease.Release
	deployed := false
	for i := range secrets {
		secret := &secrets[i]
		if ownership.OwnsRevision(r.darkroom, secret) {
			continue
		}
		if metav1.GetControllerOfNoCopy(secret) != nil {
			return nil, fmt.Errorf("adopt release %s: its Secret %s has another owner: %s", r.key(),
				secret.Name, ownership.Owner(secret))
		}
		release, err := decode(secret)
		if err != nil {
			return nil, fmt.Errorf("adopt release %s: decode Secret %s: %w: delete it, or uninstall the release",
				r.key(), secret.Name, err)
		}
		if release.Info.Status.IsPending() {
			return nil, fmt.Errorf("adopt release %s: revision %d is %s: wait for it to complete, or roll it back with helm",
				r.key(), release.Version, release.Info.Status)
		}
		if release.Chart == nil || release.Chart.Name() != chart {
			return nil, fmt.Errorf("adopt release %s: revision %d is not a release of the chart %s",
				r.key(), release.Version, chart)
		}
		deployed = deployed || release.Info.Status == helmrelease.StatusDeployed
		foreign = append(foreign, release)
	}
	if len(foreign) > 0 && !deployed {
		return nil, fmt.Errorf("adopt release %s: no revision of it is deployed: uninstall it, and remove the annotation %s",
			r.key(), v1alpha1.AnnotationAdoptRelease)
	}
	return foreign, nil
}

// IsForeign reports whether there are revisions of a Darkroom's release that belong to no
// Darkroom. It costs no request while the caches show none.
func (r *Revisions) IsForeign(ctx context.Context) (bool, error) {
	if used, err := r.isUsed(ctx); err != nil || !used {
		return false, err
	}
	// The caches may lag behind the adoption of the release.
	_, err := r.stored(ctx)
	switch {
	case errors.Is(err, ErrForeignRelease):
		return true, nil
	case errors.Is(err, ErrPredecessor):
		return false, nil
	}
	return false, err
}

// Adopt makes the revisions of a release the Darkroom's own: last the deployed ones, so that an
// adoption that was interrupted is repeated.
func (r *Revisions) Adopt(ctx context.Context) error {
	secrets, err := r.list(ctx)
	if err != nil {
		return err
	}
	deployed := slices.DeleteFunc(slices.Clone(secrets), func(secret corev1.Secret) bool { return !isDeployed(&secret) })
	others := slices.DeleteFunc(secrets, func(secret corev1.Secret) bool { return isDeployed(&secret) })
	for _, secret := range append(others, deployed...) {
		if ownership.OwnsRevision(r.darkroom, &secret) {
			continue
		}
		labels := map[string]any{v1alpha1.LabelDarkroom: r.darkroom.Name, v1alpha1.LabelDarkroomUID: r.darkroom.UID}
		patch, err := ownership.Patch(&secret, labels, []metav1.OwnerReference{ownership.Reference(r.darkroom)})
		if err != nil {
			return fmt.Errorf("adopt release %s: encode patch: %w", r.key(), err)
		}
		if _, err := r.secrets.Secrets(secret.Namespace).Patch(ctx, secret.Name, types.MergePatchType, patch,
			metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("adopt release %s: mark Secret %s: %w", r.key(), secret.Name, err)
		}
	}
	return nil
}
