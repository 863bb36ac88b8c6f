package storage

import (
	"context"
	"slices"

	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prune deletes the oldest revisions until at most keep remain; 0 keeps all. Deployed revisions and the newest one are
// never deleted.
func (r *Revisions) Prune(ctx context.Context, keep int) error {
	if keep <= 0 {
		return nil
	}
	indexed, err := r.revisions(ctx)
	if err != nil {
		return err
	}
	for _, secret := range slices.Backward(indexed[min(keep, len(indexed)):]) {
		if isDeployed(&secret) {
			continue
		}
		if err := r.prune(ctx, &secret); err != nil {
			return err
		}
	}
	return nil
}

// prune deletes the record of a revision before the revision itself, because the record could not be found afterwards.
func (r *Revisions) prune(ctx context.Context, secret metav1.Object) error {
	if err := r.removeRecord(ctx, versionOf(secret)); err != nil {
		return err
	}
	return r.delete(ctx, secret)
}

// PruneOldest deletes the oldest revision to make room for another one, and reports whether it did. A deployed revision
// is never deleted.
func (r *Revisions) PruneOldest(ctx context.Context) (bool, error) {
	indexed, err := r.revisions(ctx)
	oldest := len(indexed) - 1
	if err != nil || oldest < 0 || isDeployed(&indexed[oldest]) {
		return false, err
	}
	return true, r.prune(ctx, &indexed[oldest])
}

// isDeployed reports whether a Secret contains a deployed revision.
func isDeployed(secret metav1.Object) bool {
	return secret.GetLabels()[labelStatus] == helmrelease.StatusDeployed.String()
}
