package controller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/restore"
)

// restoreWatch ends the manager when etcd was restored from a backup. The next process rereads the cluster.
type restoreWatch struct {
	live client.Reader
	// namespace is one that the operator may list; empty means all.
	namespace string
	versions  restore.Versions
}

// check asks once. No answer changes nothing.
func (w *restoreWatch) check(ctx context.Context) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("DarkroomList"))
	if err := w.live.List(ctx, list, client.InNamespace(w.namespace), client.Limit(1)); err != nil {
		return nil //nolint:nilerr // the next answer tells
	}
	if w.versions.WentBack(list.ResourceVersion) {
		ctrl.LoggerFrom(ctx).Info("Resource versions went back, as after a restore of etcd: stopping, to reread the cluster",
			"before", w.versions.Highest(), "now", list.ResourceVersion)
		return ErrClusterChanged
	}
	return nil
}
