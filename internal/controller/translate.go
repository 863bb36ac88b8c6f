package controller

import (
	"context"
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// translator is the values translator of the Helm reconciler. It adds to the pure
// translation what only the cluster knows: which hosts belong to others, and
// which state the referenced Secret is in.
type translator struct {
	values      *values.Translator
	claims      *claims.Ledger
	credentials *credentials
}

// Translate implements the translator of helm-operator-plugins.
func (t *translator) Translate(ctx context.Context, resource *unstructured.Unstructured) (chartutil.Values, error) {
	session := sessionFrom(ctx)
	darkroom := session.darkroom
	if darkroom == nil || darkroom.UID != resource.GetUID() {
		return nil, fmt.Errorf("translate Darkroom %s/%s: it was not read in this reconcile", resource.GetNamespace(), resource.GetName())
	}
	version, err := t.credentials.version(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	judgement, err := t.claims.Judge(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	session.judgement = judgement
	vals, err := t.values.ValuesUnder(darkroom, values.Circumstances{
		RefusedHosts:       judgement.RefusedHosts(),
		CredentialsVersion: version,
	})
	if err != nil {
		t.claims.Undo(judgement)
	}
	return vals, err
}

// settleClaims frees the hosts that a Darkroom has let go of in the reconcile that
// ended just now.
func (r *helmReconciler) settleClaims(ctx context.Context, key types.NamespacedName, session *session, failed bool) error {
	switch {
	case session.darkroom == nil, session.released:
		return r.claims.Forget(ctx, key, false)
	case session.darkroom.DeletionTimestamp != nil:
		return r.claims.Forget(ctx, key, true)
	}
	return r.claims.Settle(ctx, session.judgement, failed)
}
