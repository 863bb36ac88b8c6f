package controller_test

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestAChangeWritesOnlyTheObjectsThatItChanges(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	kinds := &requestKinds{}
	o := startOperator(t, namespace, withTransport(kinds.wrap))
	darkroom := webFolder(namespace, "photos")
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "photos"))
	eventually(t, "rest", quiet(o))
	before := kinds.counts()
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "https://example.com/others" })
	eventually(t, "the upgrade", installed(namespace, "photos"))
	eventually(t, "rest", quiet(o))

	found := since(before, kinds.counts())
	want := map[string]float64{
		"PATCH configmaps": 1, "PATCH deployments": 1,
		"GET secrets":  2, // the second if the cache lags at the reconcile after the upgrade
		"POST secrets": 1, "PATCH secrets": 2,
		"PATCH darkrooms/status": 2, // one more if the upgrade takes longer than half a second
		"POST events":            1,
	}
	for kind, count := range found {
		if count > want[kind] {
			t.Errorf("%.0f × %s, want %.0f", count, kind, want[kind])
		}
	}
}

// requestKinds counts requests by verb and kind, without watches.
type requestKinds struct {
	mu    sync.Mutex
	kinds map[string]float64
}

func (r *requestKinds) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.URL.Query().Get("watch") == "" {
			r.mu.Lock()
			if r.kinds == nil {
				r.kinds = map[string]float64{}
			}
			r.kinds[kindOf(request)]++
			r.mu.Unlock()
		}
		return next.RoundTrip(request)
	})
}

func (r *requestKinds) counts() map[string]float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.kinds)
}

// kindOf is the verb, the resource and the subresource of a request. The path is
// /apis/<group>/<version>/namespaces/<namespace>/<resource>/<name>/<subresource>.
func kindOf(request *http.Request) string {
	_, path, namespaced := strings.Cut(request.URL.Path, "/namespaces/")
	if !namespaced {
		return request.Method + " " + request.URL.Path
	}
	parts := strings.Split(path, "/")
	if len(parts) < 2 {
		return request.Method + " namespaces"
	}
	kind := request.Method + " " + parts[1]
	if len(parts) > 3 {
		kind += "/" + parts[3]
	}
	return kind
}

func since(before, after map[string]float64) map[string]float64 {
	counts := map[string]float64{}
	for name, count := range after {
		if count > before[name] {
			counts[name] = count - before[name]
		}
	}
	return counts
}
