package controller

import (
	"context"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/credentials"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// translator passes the state of the cluster to the pure translation: the hosts that belong
// to others, and the version of the referenced Secret.
type translator struct {
	values      *values.Translator
	claims      *claims.Ledger
	credentials *credentials.Versions
}

// translate returns the chart values of a Darkroom, and the judgement on its claims, which
// is committed once its objects are written. It is nil if there is none. If the Darkroom
// cannot be translated, it is undone already.
func (t *translator) translate(ctx context.Context, darkroom *v1alpha1.Darkroom) (chartutil.Values, *claims.Judgement, error) {
	version, err := t.credentials.Version(ctx, darkroom)
	if err != nil {
		return nil, nil, err
	}
	judgement, err := t.claims.Judge(ctx, darkroom)
	if err != nil {
		return nil, nil, err
	}
	vals, err := t.values.ValuesIn(darkroom, values.ClusterState{
		RefusedHosts:       judgement.RefusedHosts(),
		CredentialsVersion: version,
	})
	if err != nil {
		t.claims.Undo(judgement)
	}
	return vals, judgement, err
}

// commitClaims releases the hosts that a Darkroom dropped in this reconcile.
func (r *helmReconciler) commitClaims(ctx context.Context, s *session, failed bool) error {
	switch {
	case s.uninstalled:
		return r.translator.claims.Forget(ctx, keyOf(s.darkroom), false)
	case s.darkroom.DeletionTimestamp != nil:
		return r.translator.claims.Forget(ctx, keyOf(s.darkroom), true)
	}
	return r.translator.claims.Commit(ctx, s.judgement, failed)
}
