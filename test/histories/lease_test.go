package histories

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// leaseDuration is short, so that the leader changes within a history.
const leaseDuration = 4 * time.Second

// electionName is the prefix of leader election leases; the lease of a host is named after the host.
const electionName = "history"

// lease is the lease of the main installation's leader, if the processes elect one.
func (w *world) lease() types.NamespacedName {
	return types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: electionName + w.suffix}
}

// leaseSteps change the lease.
var leaseSteps = []kind{
	onDarkroom(3,
		"kubectl patch darkroom NAME: another sub-domain; the lease of the operator is deleted meanwhile, and "+
			"taken by another process", func(w *world, key types.NamespacedName) error {
			if !w.elects {
				return errNothingToDo
			}
			err := edit(w, key, &v1alpha1.Darkroom{}, func(d *v1alpha1.Darkroom) error {
				next := w.subDomain(hostNames[0])
				if slices.Contains(d.Spec.SubDomains, next) {
					next = w.subDomain(hostNames[1])
				}
				d.Spec.SubDomains = []string{next}
				return nil
			})
			lease := w.lease()
			return errors.Join(err, w.kube.Delete(w.ctx,
				&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: lease.Namespace, Name: lease.Name}}))
		}),
	platform(2, "the operator loses its lease to a process that is gone, and exits", func(w *world) error {
		lease := &coordinationv1.Lease{}
		if !w.elects || w.kube.Get(w.ctx, w.lease(), lease) != nil {
			return errNothingToDo
		}
		leaders := slices.DeleteFunc(slices.Collect(maps.Values(w.operators)), func(o *operator) bool {
			return o.traffic.process.installation != mainInstallation || !o.traffic.leads()
		})
		before := lease.DeepCopy()
		lease.Spec.HolderIdentity = ptr.To("another")
		lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
		lease.Spec.LeaseDurationSeconds = ptr.To(int32(leaseDuration.Seconds()))
		if err := w.kube.Patch(w.ctx, lease, client.MergeFrom(before)); err != nil {
			return err
		}
		return wait.Limits{Timeout: patience, Period: restPeriod / 5}.Until(w.ctx, "the leader ends",
			func(context.Context) error {
				if slices.ContainsFunc(leaders, func(o *operator) bool { return !o.isOver() }) {
					return errStillLeads
				}
				return nil
			})
	}),
}

// errStillLeads is returned if no process ended after losing its lease.
var errStillLeads = errors.New("a process continues without its lease")
