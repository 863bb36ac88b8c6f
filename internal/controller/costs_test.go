package controller_test

import (
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestAChangeWritesOnlyTheObjectsThatItChanges(t *testing.T) {
	t.Parallel()
	o, darkroom := startWithPhotos(t)
	eventually(t, "rest", quiet(o))
	before := len(o.requests())
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "https://example.com/others" })
	eventually(t, "rest", quiet(o))

	found := map[string]int{}
	for _, line := range o.requests()[before:] {
		found[kindOf(line)]++
	}
	want := map[string]int{
		"PATCH configmaps": 1, "PATCH deployments": 1,
		"GET secrets":  2, // the second if the cache lags at the reconcile after the upgrade
		"POST secrets": 1, "PATCH secrets": 2,
		"PATCH darkrooms/status": 2, // one more if the upgrade takes longer than half a second
		"POST events":            1,
	}
	for kind, count := range found {
		if count > want[kind] {
			t.Errorf("%d × %s, want %d", count, kind, want[kind])
		}
	}
}

// kindOf is the verb, the resource and the subresource of a request. Its path is
// /apis/<group>/<version>/namespaces/<namespace>/<resource>/<name>/<subresource>.
func kindOf(request string) string {
	method, path, _ := strings.Cut(request, " ")
	_, path, namespaced := strings.Cut(path, "/namespaces/")
	parts := strings.Split(path, "/")
	if !namespaced || len(parts) < 2 {
		return request
	}
	kind := method + " " + parts[1]
	if len(parts) > 3 {
		kind += "/" + parts[3]
	}
	return kind
}
