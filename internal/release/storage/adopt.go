package storage

import (
	"context"
	"encoding/json"
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
// one of them was made of another chart, is controlled by another object or is pending, or if
// none is deployed.
func (r *Revisions) Foreign(ctx context.Context, chart string) ([]*helmrelease.Release, error) {
	list, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return versionOf(&b) - versionOf(&a) })
	var foreign []*helmrelease.Release
	deployed := false
	for i := range list.Items {
		secret := &list.Items[i]
		if ownership.OwnsRevision(r.darkroom, secret) {
			continue
		}
		release, err := adoptable(secret, chart)
		if err != nil {
			return nil, fmt.Errorf("adopt release %s: %w", r.key(), err)
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

// adoptable returns the revision in a Secret if it may be adopted.
func adoptable(secret *corev1.Secret, chart string) (*helmrelease.Release, error) {
	if metav1.GetControllerOfNoCopy(secret) != nil {
		return nil, fmt.Errorf("its Secret %s has another owner: %s", secret.Name, ownership.Owner(secret))
	}
	release, err := decode(secret)
	switch {
	case err != nil:
		return nil, fmt.Errorf("decode Secret %s: %w: delete it, or uninstall the release", secret.Name, err)
	case release.Info.Status.IsPending():
		return nil, fmt.Errorf("revision %d is %s: wait for it to complete, or roll it back with helm", release.Version, release.Info.Status)
	case release.Chart == nil || release.Chart.Metadata == nil || release.Chart.Name() != chart:
		return nil, fmt.Errorf("revision %d is not a release of the chart %s", release.Version, chart)
	}
	return release, nil
}

// Adopt makes the revisions of a release the Darkroom's own: last the deployed one, so that an
// adoption that was interrupted is repeated.
func (r *Revisions) Adopt(ctx context.Context) error {
	list, err := r.list(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(list.Items, func(a, b corev1.Secret) int { return rank(&a) - rank(&b) })
	for i := range list.Items {
		secret := &list.Items[i]
		if ownership.OwnsRevision(r.darkroom, secret) {
			continue
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid":             secret.UID,
			"resourceVersion": secret.ResourceVersion,
			"labels": map[string]string{
				v1alpha1.LabelDarkroom:    r.darkroom.GetName(),
				v1alpha1.LabelDarkroomUID: string(r.darkroom.GetUID()),
			},
			"ownerReferences": []metav1.OwnerReference{ownership.Reference(r.darkroom)},
		}})
		if err != nil {
			return fmt.Errorf("adopt release %s: encode patch: %w", r.key(), err)
		}
		if _, err := r.secrets.Secrets(secret.Namespace).Patch(ctx, secret.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("adopt release %s: mark Secret %s: %w", r.key(), secret.Name, err)
		}
	}
	// It is remembered at once: meanwhile the Secrets may be in neither cache.
	r.Forget()
	_, err = r.readListed(ctx)
	return err
}

// rank is 1 for a deployed revision, else 0.
func rank(secret *corev1.Secret) int {
	if secret.Labels[labelStatus] == helmrelease.StatusDeployed.String() {
		return 1
	}
	return 0
}
