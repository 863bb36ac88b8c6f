package controller

import (
	"context"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// restoreWatch ends the manager when etcd was restored from a backup: the resource version of the API server, which counts
// writes, is lower than before. A watch that goes on begins in the future then, and misses all events until the counter
// has passed it. The next process reads everything anew.
type restoreWatch struct {
	live client.Reader
	// namespace is one that the operator may list; empty means all.
	namespace string
	period    time.Duration
	// highest is the highest resource version so far.
	highest uint64
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: the caches of managers that stand by are wrong too.
func (*restoreWatch) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (w *restoreWatch) Start(ctx context.Context) error {
	ticker := time.NewTicker(w.period)
	defer ticker.Stop()
	for {
		if err := w.check(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// check asks once. No answer, or a version that is no number, changes nothing.
func (w *restoreWatch) check(ctx context.Context) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("DarkroomList"))
	if err := w.live.List(ctx, list, client.InNamespace(w.namespace), client.Limit(1)); err != nil {
		return nil //nolint:nilerr // the next answer tells
	}
	now, err := strconv.ParseUint(list.ResourceVersion, 10, 64)
	if err != nil {
		return nil //nolint:nilerr // not etcd's
	}
	if now < w.highest {
		ctrl.LoggerFrom(ctx).Info("Resource versions have gone back, as after a restore of etcd: stopping, to read everything anew",
			"before", w.highest, "now", now)
		return ErrClusterChanged
	}
	w.highest = now
	return nil
}
