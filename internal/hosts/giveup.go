package hosts

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// GiveUpUnused deletes the Leases of hosts that a Darkroom neither wants nor routes any more. It sends no request if the
// caches show that the Darkroom still wants all its hosts. A host that another installation claimed is kept until the
// Darkroom is gone, unless this installation handles the Darkroom.
func (c *Claims) GiveUpUnused(ctx context.Context, key types.NamespacedName) error {
	leases := &coordinationv1.LeaseList{}
	err := c.Client.List(ctx, leases, client.InNamespace(c.Namespace), client.MatchingFields{indexHolder: key.String()})
	if err != nil {
		return fmt.Errorf("list the hosts of Darkroom %s: %w", key, err)
	}
	for i := range leases.Items {
		lease := &leases.Items[i]
		s, err := c.stateOf(ctx, key, lease.Name)
		if err == nil && !s.wants && !s.isRouted && (!s.exists || s.isHandled || c.hasClaimed(lease)) {
			err = c.Client.Delete(ctx, lease,
				client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion})
		}
		// On a conflict, this Darkroom or another one has just claimed the host.
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("give up host %s: %w", lease.Name, err)
		}
	}
	return nil
}

// hasClaimed reports whether this installation claimed a host. A Lease without the annotation counts as claimed by this
// installation.
func (c *Claims) hasClaimed(lease *coordinationv1.Lease) bool {
	by := lease.Annotations[v1alpha1.AnnotationInstallation]
	return by == "" || by == c.Installation
}
