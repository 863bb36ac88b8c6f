package hosts

import (
	"context"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// HolderOf returns the Darkroom that holds the host of a Lease; empty if the Lease does not name a Darkroom.
func HolderOf(lease *coordinationv1.Lease) types.NamespacedName {
	namespace, name, isKey := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "/")
	if !isKey || strings.Contains(name, "/") {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// isOfHost reports whether a Lease is the Lease of a host. Other programs have Leases in the same namespace.
func isOfHost(lease *coordinationv1.Lease) bool { return lease.Labels[v1alpha1.LabelHost] != "" }

// proof identifies the spec for which a Lease was written. A cached Lease of an earlier spec proves nothing, because
// it may have been deleted in the meantime. The Lease of the current spec is kept while the spec contains the host.
func proof(darkroom *v1alpha1.Darkroom) string {
	return fmt.Sprintf("%s/%d", darkroom.UID, darkroom.Generation)
}

// assign makes a Darkroom the holder of a Lease on behalf of an installation.
func assign(lease *coordinationv1.Lease, darkroom *v1alpha1.Darkroom, installation string) {
	holder := client.ObjectKeyFromObject(darkroom).String()
	lease.Spec.HolderIdentity = &holder
	metav1.SetMetaDataLabel(&lease.ObjectMeta, v1alpha1.LabelHost, "true")
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.AnnotationClaimedFor, proof(darkroom))
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.AnnotationInstallation, installation)
}

// lease returns the Lease of a host; nil if it does not exist.
func (c *Claims) lease(ctx context.Context, reader client.Reader, host string) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := reader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: host}, lease)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nil means not found
	}
	return lease, err
}

// Holders returns the holder of each host that has a Lease in a namespace.
func Holders(ctx context.Context, in client.Reader, namespace string) (map[string]types.NamespacedName, error) {
	leases := &coordinationv1.LeaseList{}
	err := in.List(ctx, leases, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelHost})
	if err != nil {
		return nil, fmt.Errorf("list the Leases of hosts in namespace %s: %w", namespace, err)
	}
	holders := map[string]types.NamespacedName{}
	for i := range leases.Items {
		holders[leases.Items[i].Name] = HolderOf(&leases.Items[i])
	}
	return holders, nil
}
