package claims

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// page is the number of Darkrooms in one response of the API server.
const page = 500

// RestoreAll creates the Leases that are missing of hosts at which Darkrooms serve images, by their status. Leases are
// lost with their namespace. Users cannot write the status.
func (h *Hosts) RestoreAll(ctx context.Context) error {
	namespaces := h.Watched
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		list := &v1alpha1.DarkroomList{}
		for next := true; next; next = list.Continue != "" {
			err := h.Uncached.List(ctx, list, client.InNamespace(namespace), client.Limit(page), client.Continue(list.Continue))
			if err != nil {
				return fmt.Errorf("list Darkrooms to restore the Leases of their hosts: %w", err)
			}
			for i := range list.Items {
				if err := h.restoreDomains(ctx, &list.Items[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (h *Hosts) restoreDomains(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	if !h.Handles(darkroom) {
		return nil
	}
	for _, host := range darkroom.Status.Domains {
		lease, err := h.lease(ctx, h.Client, host)
		if err == nil && lease == nil {
			err = h.restore(ctx, client.ObjectKeyFromObject(darkroom), host)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Restore creates the Lease of a host that was deleted although its holder still wants or routes the host. It reports
// whether the host has a Lease now.
func (h *Hosts) Restore(ctx context.Context, holder types.NamespacedName, host string) (bool, error) {
	lease, err := h.lease(ctx, h.Uncached, host)
	if err != nil || lease != nil {
		return lease != nil, err
	}
	_, wants, isRouted, err := h.stateOf(ctx, holder, host)
	if err != nil || !wants && !isRouted {
		return false, err
	}
	return true, h.restore(ctx, holder, host)
}

func (h *Hosts) restore(ctx context.Context, holder types.NamespacedName, host string) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: host}}
	assign(lease, &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: holder.Namespace, Name: holder.Name}})
	if err := h.Client.Create(ctx, lease); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("restore the Lease of host %s: %w", host, err)
	}
	return nil
}
