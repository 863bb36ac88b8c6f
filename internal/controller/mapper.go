package controller

import (
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// mapper remembers what a RESTMapper has said. Caches that are limited to namespaces ask
// at each read whether a kind has namespaces, and to work that out anew costs more than
// all else about a Darkroom that has not changed. A kind keeps its resource and its scope
// for as long as it is served; one that is no longer served answers each request with
// the API's error NotFound.
type mapper struct {
	meta.RESTMapper

	known sync.Map // of *meta.RESTMapping by schema.GroupVersionKind
}

// NewMapper returns the mapper of a cluster's kinds for CacheOptions and the manager. It
// asks the cluster when it is first asked about a group.
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
