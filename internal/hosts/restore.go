package hosts

import (
	"context"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// page is the maximum number of Darkrooms in one response of the API server.
const page = 500

// RestoreAll recreates the missing Leases of hosts at which Darkrooms serve images according to their status, also of
// Darkrooms that other shards or installations handle: whichever process starts first must not take their hosts. Leases
// are lost with their namespace. Users cannot write the status.
func (c *Claims) RestoreAll(ctx context.Context) error {
	namespaces := c.Watched
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		list := &v1alpha1.DarkroomList{}
		for next := true; next; next = list.Continue != "" {
			err := c.Uncached.List(ctx, list, client.InNamespace(namespace), client.Limit(page), client.Continue(list.Continue))
			if err != nil {
				return fmt.Errorf("list Darkrooms to restore the Leases of their hosts: %w", err)
			}
			for i := range list.Items {
				if err := c.restoreDomains(ctx, &list.Items[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *Claims) restoreDomains(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	for _, host := range darkroom.Status.Domains {
		lease, err := c.lease(ctx, c.Client, host)
		if err == nil && lease == nil {
			err = c.restore(ctx, client.ObjectKeyFromObject(darkroom), darkroom.Status.Installation, host)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Lost records that a Lease was deleted. Restore may have thousands of them to handle, so until then a claim of the host
// restores the Lease itself.
func (c *Claims) Lost(lease *coordinationv1.Lease) { c.lost.Store(lease.Name, HolderOf(lease)) }

// Restore creates the Lease of a host that was deleted although its holder still wants or routes the host. It reports
// whether the host has a Lease now. If this operator may not read the holder, the holder's operator may have given up the
// host, so only that one restores it.
func (c *Claims) Restore(ctx context.Context, holder types.NamespacedName, host string) (hasLease bool, err error) {
	defer func() {
		if err == nil {
			c.lost.CompareAndDelete(host, holder)
		}
	}()
	lease, err := c.lease(ctx, c.Uncached, host)
	if err != nil || lease != nil {
		return lease != nil, err
	}
	s, err := c.stateOf(ctx, holder, host)
	if err != nil || s.isHidden || !s.wants && !s.isRouted {
		return false, err
	}
	return true, c.restore(ctx, holder, s.installation, host)
}

// restoreToAnother restores a Lease, which a Darkroom is about to create, for the last holder of a lost Lease, or for
// another Darkroom that serves images at the host according to its status. It returns an AlreadyExists error if the Lease
// exists now.
func (c *Claims) restoreToAnother(ctx context.Context, darkroom *v1alpha1.Darkroom, host string) error {
	var others []types.NamespacedName
	if holder, isLost := c.lost.Load(host); isLost {
		others = append(others, holder.(types.NamespacedName)) //nolint:forcetypeassert // nothing else is stored
	}
	if !slices.Contains(darkroom.Status.Domains, host) {
		serving := &v1alpha1.DarkroomList{}
		err := c.Client.List(ctx, serving, client.MatchingFields{indexDomain: host}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return fmt.Errorf("list the Darkrooms that serve host %s: %w", host, err)
		}
		for i := range serving.Items {
			others = append(others, client.ObjectKeyFromObject(&serving.Items[i]))
		}
	}
	for _, other := range others {
		switch exists, err := c.Restore(ctx, other, host); {
		case err != nil:
			return hide(ctx, host, err)
		case exists:
			return apierrors.NewAlreadyExists(coordinationv1.Resource("leases"), host)
		}
	}
	return nil
}

// restore creates the Lease of a host on behalf of the installation that last reported the status of the holder.
func (c *Claims) restore(ctx context.Context, holder types.NamespacedName, installation, host string) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: host}}
	assign(lease, &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: holder.Namespace, Name: holder.Name}}, installation)
	if err := c.Client.Create(ctx, lease); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("restore the Lease of host %s: %w", host, err)
	}
	return nil
}
