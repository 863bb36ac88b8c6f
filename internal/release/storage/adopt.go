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
func (r *Revisions) Foreign(ctx context.Context, chart string) (foreign []*helmrelease.Release, err error) {
	deployed := 0
	err = r.each(ctx, func(secret *corev1.Secret) error {
		if ownership.OwnsRevision(r.darkroom, secret) {
			return nil
		}
		if metav1.GetControllerOfNoCopy(secret) != nil {
			return fmt.Errorf("its Secret %s has another owner: %s", secret.Name, ownership.Owner(secret))
		}
		release, err := decode(secret)
		switch {
		case err != nil:
			return fmt.Errorf("decode Secret %s: %w: delete it, or uninstall the release", secret.Name, err)
		case release.Info.Status.IsPending():
			return fmt.Errorf("revision %d is %s: wait for it to complete, or roll it back with helm",
				release.Version, release.Info.Status)
		case release.Chart == nil || release.Chart.Name() != chart:
			return fmt.Errorf("revision %d is not a release of the chart %s", release.Version, chart)
		case release.Info.Status != helmrelease.StatusDeployed:
			release = summary(release)
		case deployed == listPage:
			return fmt.Errorf("more than %d revisions are deployed: delete the Secrets of the older ones", listPage)
		default:
			deployed++
		}
		foreign = append(foreign, release)
		return nil
	})
	if err == nil && len(foreign) > 0 && deployed == 0 {
		err = errors.New("no revision of it is deployed: uninstall it, and remove the annotation " +
			v1alpha1.AnnotationAdoptRelease)
	}
	if err != nil {
		return nil, fmt.Errorf("adopt release %s: %w", r.key(), err)
	}
	slices.SortFunc(foreign, func(a, b *helmrelease.Release) int { return b.Version - a.Version })
	return foreign, nil
}

// IsForeign reports whether there are revisions of a Darkroom's release that belong to no
// Darkroom.
func (r *Revisions) IsForeign(ctx context.Context) (bool, error) {
	_, err := r.stored(ctx)
	isForeign := errors.Is(err, ErrForeignRelease)
	if isForeign || errors.Is(err, ErrPredecessor) {
		return isForeign, nil
	}
	return false, err
}

// Adopt makes the revisions of a release the Darkroom's own: last the deployed ones, so that an
// adoption that was interrupted is repeated.
func (r *Revisions) Adopt(ctx context.Context) error {
	var others, deployed []*corev1.Secret
	err := r.each(ctx, func(secret *corev1.Secret) error {
		switch secret.Data = nil; {
		case ownership.OwnsRevision(r.darkroom, secret):
		case isDeployed(secret):
			deployed = append(deployed, secret)
		default:
			others = append(others, secret)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, secret := range append(others, deployed...) {
		labels := map[string]any{v1alpha1.LabelDarkroom: r.darkroom.Name, v1alpha1.LabelDarkroomUID: r.darkroom.UID}
		patch, err := ownership.Patch(secret, labels, []metav1.OwnerReference{ownership.Reference(r.darkroom)})
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
