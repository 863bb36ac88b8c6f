// Package hosts decides which Darkroom holds a host: the first that creates the host's Lease. The holder keeps the
// host until it drops the host or is deleted, and none of its routes has the host any more.
//
// What to do with a Lease is a pure function (decide.go). Leases are read and written in hosts.go, where a Lease whose
// holder is gone is taken over. Wherever two writers could
// disagree, the API server decides: one of them creates the Lease, or changes the version that it has read.
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

// Refusal is a host that a Darkroom wants and another Darkroom has.
type Refusal struct {
	// Host is the refused host.
	Host string
	// Holder is the Darkroom that has the host.
	Holder types.NamespacedName
	// Leaving is set if the holder no longer wants the host. It exists, or one of its routes still has the host.
	Leaving bool
}

// step is the next action of a Darkroom on the Lease of a host in its spec.
type step int

const (
	// keep: the Lease proves that the Darkroom has the host.
	keep step = iota
	// create: no Darkroom holds the host.
	create
	// renew: the Darkroom has the host, but the Lease is from an earlier spec. Giving up the earlier claim must fail.
	renew
	// contend: another Darkroom has the host, unless it is gone.
	contend
)

// decide returns the next step of a Darkroom that wants a host with this Lease; nil if there is none.
func decide(darkroom *v1alpha1.Darkroom, lease *coordinationv1.Lease) step {
	switch {
	case lease == nil:
		return create
	case HolderOf(lease) != client.ObjectKeyFromObject(darkroom):
		return contend
	case lease.Annotations[v1alpha1.AnnotationClaimedFor] != proof(darkroom):
		return renew
	default:
		return keep
	}
}

// proof identifies the spec for which a Lease was last written. A cached Lease of another spec may already be
// given up. A Lease of this spec is not given up while the spec has the host.
func proof(darkroom *v1alpha1.Darkroom) string {
	return fmt.Sprintf("%s/%d", darkroom.UID, darkroom.Generation)
}

// HolderOf returns the Darkroom that has the host of a Lease; empty if the Lease names none.
func HolderOf(lease *coordinationv1.Lease) types.NamespacedName {
	namespace, name, isKey := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "/")
	if !isKey || strings.Contains(name, "/") {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// isOfHost reports whether a Lease is one of a host, and not the Lease of another program.
func isOfHost(lease *coordinationv1.Lease) bool { return lease.Labels[v1alpha1.LabelHost] != "" }

// assign makes a Darkroom the holder of a Lease, which an installation claims for it.
func assign(lease *coordinationv1.Lease, darkroom *v1alpha1.Darkroom, installation string) {
	holder := client.ObjectKeyFromObject(darkroom).String()
	if ptr.Deref(lease.Spec.HolderIdentity, "") != holder {
		lease.Spec.AcquireTime = ptr.To(metav1.NowMicro())
	}
	lease.Spec.HolderIdentity = &holder
	metav1.SetMetaDataLabel(&lease.ObjectMeta, v1alpha1.LabelHost, "true")
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.AnnotationClaimedFor, proof(darkroom))
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, v1alpha1.AnnotationInstallation, installation)
}
