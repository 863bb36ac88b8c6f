package controller

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// restoreWatch ends the manager when etcd was restored from a backup: the API server's resource version, which counts
// writes, is lower than before. A watch that resumes then starts at a version of the future, and misses all events until
// the counter has passed it. The next process rereads the cluster.
type restoreWatch struct {
	live client.Reader
	// namespace is one that the operator may list; empty means all.
	namespace string
	// highest is the highest resource version so far.
	highest uint64
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
		ctrl.LoggerFrom(ctx).Info("Resource versions went back, as after a restore of etcd: stopping, to reread the cluster",
			"before", w.highest, "now", now)
		return ErrClusterChanged
	}
	w.highest = now
	return nil
}
