package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// countingMapper counts how often it is asked.
type countingMapper struct {
	*meta.DefaultRESTMapper

	asked int
}

func (m *countingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.asked++
	return m.DefaultRESTMapper.RESTMapping(kind, versions...)
}

func TestAKindIsAskedForOnceItIsServed(t *testing.T) {
	asked := &countingMapper{DefaultRESTMapper: meta.NewDefaultRESTMapper(nil)}
	kinds := &mapper{RESTMapper: asked}

	for range 2 {
		if _, err := kinds.RESTMapping(httpRoute.GroupKind(), httpRoute.Version); !meta.IsNoMatchError(err) {
			t.Fatalf("a kind that is not served: got error %v, want one that says so", err)
		}
	}
	asked.Add(httpRoute, meta.RESTScopeNamespace)
	for range 3 {
		mapping, err := kinds.RESTMapping(httpRoute.GroupKind(), httpRoute.Version)
		if err != nil {
			t.Fatalf("a kind that is served by now: %v", err)
		}
		if mapping.Resource.Resource != "httproutes" || mapping.Scope != meta.RESTScopeNamespace {
			t.Errorf("got %s of scope %s", mapping.Resource, mapping.Scope.Name())
		}
	}
	if asked.asked != 3 {
		t.Errorf("asked %d times, want twice in vain and once more", asked.asked)
	}

	other := httpRoute.GroupKind().WithVersion("v1beta1")
	if _, err := kinds.RESTMapping(other.GroupKind(), other.Version); !meta.IsNoMatchError(err) {
		t.Errorf("another version: got error %v, want one that says it is not served", err)
	}
}
