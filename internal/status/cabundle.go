package status

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// missingCABundle returns the problem that the certificates of private authorities do not
// exist; nil if they do, or none are referenced. Pods that cannot mount them do not report it. It
// reads the object past the caches, and is called only while pods do not start.
func (r *Reconciler) missingCABundle(ctx context.Context, darkroom *v1alpha1.Darkroom) (*Problem, error) {
	kind, name, key := values.CABundle(&darkroom.Spec.Source)
	if name == "" {
		return nil, nil //nolint:nilnil // no problem
	}
	at := types.NamespacedName{Namespace: darkroom.Namespace, Name: name}
	var found bool
	var err error
	if kind == v1alpha1.CABundleSecret {
		secret := &corev1.Secret{}
		err = r.Pods.Get(ctx, at, secret)
		_, found = secret.Data[key]
	} else {
		configMap := &corev1.ConfigMap{}
		err = r.Pods.Get(ctx, at, configMap)
		_, text := configMap.Data[key]
		_, binary := configMap.BinaryData[key]
		found = text || binary
	}
	switch {
	case apierrors.IsNotFound(err):
		return &Problem{v1alpha1.ReasonPodsFailing, fmt.Sprintf(
			"%s %s does not exist in namespace %s: create it with the key %q, or change source.caBundleRef.", kind, name, darkroom.Namespace, key)}, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %s: %w", kind, at, err)
	case !found:
		return &Problem{v1alpha1.ReasonPodsFailing, fmt.Sprintf(
			"%s %s has no key %q: add it, or name another in source.caBundleRef.", kind, name, key)}, nil
	}
	return nil, nil //nolint:nilnil // no problem
}
