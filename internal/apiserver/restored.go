package apiserver

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/restore"
)

// ErrRestored ends a server whose cluster was restored from a backup: its watch would miss what has changed
// since. The next process rereads the cluster.
var ErrRestored = errors.New(
	"resource versions went back, as after a restore of etcd: start the server again, to reread the cluster",
)

// watchVersions asks for the resource version of the cluster until it goes back. No answer changes nothing.
func (s *Server) watchVersions(ctx context.Context, api metadata.Interface) error {
	var namespace string
	if len(s.options.Namespaces) > 0 {
		namespace = s.options.Namespaces[0]
	}
	darkrooms := api.Resource(v1alpha1.GroupVersion.WithResource(plural)).Namespace(namespace)
	versions, next := restore.Versions{}, time.NewTicker(s.options.VersionPeriod)
	defer next.Stop()
	for {
		list, err := darkrooms.List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil && versions.WentBack(list.ResourceVersion) {
			return ErrRestored
		}
		select {
		case <-next.C:
		case <-ctx.Done():
			return nil
		}
	}
}
