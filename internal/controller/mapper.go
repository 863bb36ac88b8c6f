package controller

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// mapper caches the answers of a RESTMapper. Caches that are limited to namespaces ask for
// the scope of a kind at each read, which would cost more than the rest of a reconcile
// without changes. A kind keeps its resource and scope while it is served; requests for one
// that is no longer served fail with NotFound.
type mapper struct {
	meta.RESTMapper

	known sync.Map // of *meta.RESTMapping by schema.GroupVersionKind
}

// NewMapper returns the mapper of a cluster's kinds for CacheOptions and the manager. It
// discovers a group when it is first asked about it.
func NewMapper(cluster *rest.Config, httpClient *http.Client) (meta.RESTMapper, error) {
	asking, err := apiutil.NewDynamicRESTMapper(cluster, httpClient)
	if err != nil {
		return nil, err
	}
	return &mapper{RESTMapper: asking}, nil
}

// RESTMapping implements meta.RESTMapper.
func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) != 1 {
		return m.RESTMapper.RESTMapping(kind, versions...)
	}
	exact := kind.WithVersion(versions[0])
	if known, found := m.known.Load(exact); found {
		return known.(*meta.RESTMapping), nil //nolint:forcetypeassert // nothing else is stored
	}
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err == nil {
		m.known.Store(exact, mapping)
	}
	return mapping, err
}
