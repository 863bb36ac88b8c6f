// Package hosts decides which Darkroom holds a host: the first one that creates the host's Lease. The holder keeps the
// host until it drops the host from its spec or is deleted, and until none of its routes contains the host.
//
// decide.go chooses the next action on a Lease and is pure. hosts.go reads and writes Leases, and takes over Leases
// whose holder is gone. Concurrent writers are resolved by the API server: only one of them can create the Lease, and
// updates are conditional on the resource version.
package hosts

import (
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Refusal is a host that a Darkroom wants but another Darkroom holds.
type Refusal struct {
	// Host is the refused host.
	Host string
	// Holder is the Darkroom that holds the host.
	Holder types.NamespacedName
	// Leaving is set if the holder no longer wants the host, but still exists or still has a route for the host.
	Leaving bool
}

// step is the next action on the Lease of a host in a Darkroom's spec.
type step int

const (
	// keep: the Lease was written for the current spec of the Darkroom.
	keep step = iota
	// create: no Darkroom holds the host.
	create
	// renew: the Darkroom holds the host, but the Lease was written for an earlier spec or by another installation. The
	// update makes a concurrent deletion of the earlier Lease fail.
	renew
	// contend: the Lease names another holder, which may be gone.
	contend
)

// decide returns the next step of an installation for a Darkroom that wants the host of this Lease; lease is nil if it
// does not exist.
func decide(darkroom *v1alpha1.Darkroom, lease *coordinationv1.Lease, installation string) step {
	switch {
	case lease == nil:
		return create
	case HolderOf(lease) != client.ObjectKeyFromObject(darkroom):
		return contend
	case lease.Annotations[v1alpha1.AnnotationClaimedFor] != proof(darkroom),
		lease.Annotations[v1alpha1.AnnotationInstallation] != installation:
		return renew
	default:
		return keep
	}
}

// proof identifies the spec for which a Lease was written. A cached Lease of an earlier spec may already have been
// deleted. The Lease of the current spec is kept while the spec contains the host.
func proof(darkroom *v1alpha1.Darkroom) string {
	return fmt.Sprintf("%s/%d", darkroom.UID, darkroom.Generation)
}

// HolderOf returns the Darkroom that holds the host of a Lease; empty if the Lease does not name a Darkroom.
func HolderOf(lease *coordinationv1.Lease) types.NamespacedName {
	namespace, name, isKey := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "/")
	if !isKey || strings.Contains(name, "/") {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// isOfHost reports whether a Lease stands for a host. Other programs have Leases in the same namespace.
func isOfHost(lease *coordinationv1.Lease) bool { return lease.Labels[v1alpha1.LabelHost] != "" }

// assign makes a Darkroom the holder of a Lease on behalf of an installation.
func assign(lease *coordinationv1.Lease, darkroom *v1alpha1.Darkroom, installation string) {
	holder := client.ObjectKeyFromObject(darkroom).String()
	lease.Spec.HolderIdentity = &holder
	metav1.SetMetaDataLabel(&lease.ObjectMeta, v1alpha1.LabelHost, "true")
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.AnnotationClaimedFor, proof(darkroom))
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.AnnotationInstallation, installation)
}
