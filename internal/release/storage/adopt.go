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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// Foreign returns the deployed revision of the release of a Darkroom's name that belongs
// to no Darkroom, so that it can be adopted. It fails if the release was made of another
// chart, is controlled by another object, or is not deployed.
func (s *Store) Foreign(ctx context.Context, darkroom client.Object, chart string) (*helmrelease.Release, error) {
	list, err := s.list(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return versionOf(&b) - versionOf(&a) })
	var deployed *helmrelease.Release
	for i := range list.Items {
		secret := &list.Items[i]
		if metav1.GetControllerOfNoCopy(secret) != nil && !ownership.OwnsRevision(darkroom, secret) {
			return nil, fmt.Errorf("adopt release %s: its Secret %s cannot be taken over: %s", keyOf(darkroom), secret.Name, ownership.Owner(secret))
		}
		release, err := decode(secret)
		if err != nil {
			return nil, fmt.Errorf("adopt release %s: decode Secret %s: %w: delete it, or uninstall the release", keyOf(darkroom), secret.Name, err)
		}
		if release.Info.Status.IsPending() {
			return nil, fmt.Errorf("adopt release %s: revision %d is %s: wait for it to complete, or roll it back with helm", keyOf(darkroom), release.Version, release.Info.Status)
		}
		if deployed == nil && release.Info.Status == helmrelease.StatusDeployed {
			deployed = release
		}
	}
	if deployed == nil {
		return nil, fmt.Errorf("adopt release %s: no revision of it is deployed: uninstall it, and remove the annotation %s",
			keyOf(darkroom), v1alpha1.AnnotationAdoptRelease)
	}
	if deployed.Chart == nil || deployed.Chart.Metadata == nil || deployed.Chart.Name() != chart {
		return nil, fmt.Errorf("adopt release %s: it is not a release of the chart %s, and is left alone", keyOf(darkroom), chart)
	}
	return deployed, nil
}

// Adopt makes the revisions of a release the Darkroom's own.
func (s *Store) Adopt(ctx context.Context, darkroom client.Object) error {
	list, err := s.list(ctx, darkroom)
	if err != nil {
		return err
	}
	for i := range list.Items {
		secret := &list.Items[i]
		if ownership.OwnsRevision(darkroom, secret) {
			continue
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid":             secret.UID,
			"resourceVersion": secret.ResourceVersion,
			"labels": map[string]string{
				v1alpha1.LabelDarkroom:    darkroom.GetName(),
				v1alpha1.LabelDarkroomUID: string(darkroom.GetUID()),
			},
			"ownerReferences": []metav1.OwnerReference{ownership.Reference(darkroom)},
		}})
		if err != nil {
			return fmt.Errorf("adopt release %s: encode patch: %w", keyOf(darkroom), err)
		}
		if _, err := s.secrets.Secrets(secret.Namespace).Patch(ctx, secret.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("adopt release %s: mark Secret %s: %w", keyOf(darkroom), secret.Name, err)
		}
	}
	// It is remembered at once: meanwhile the Secrets may be in neither cache.
	s.Forget(keyOf(darkroom))
	_, err = s.readListed(ctx, darkroom)
	return err
}
