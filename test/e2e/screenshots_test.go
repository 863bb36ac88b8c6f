//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// fleet are the Darkrooms on the screenshots of the documents, each with one of the scenes in
// test/standins/sources. Their hosts are not those of other tests.
var fleet = []struct {
	namespace, name, scene string
	replicas               int32
}{
	{"editorial", "blog", "lavender", 2},
	{"editorial", "press", "night", 1},
	{"photos", "gallery", "sunset", 1},
	{"photos", "travel", "coast", 2},
	{"photos", "weddings", "dunes", 1},
	{"shop", "avatars", "forest", 1},
	{"shop", "catalog", "alps", 2},
	{"shop", "outlet", "savanna", 1},
}

// TestScreenshotsOfAFleet runs web/e2e/screenshots.mjs, which takes the screenshots of the
// documents into bin/screenshots; `make screenshots` copies them.
func TestScreenshotsOfAFleet(t *testing.T) {
	if os.Getenv("LOAD") != "" {
		t.Skip("an existing cluster may have namespaces of these names")
	}
	t.Parallel()
	server := startAPIServer(t, "--cluster-name", "production")
	for _, name := range []string{"photos", "editorial", "shop"} {
		ownNamespace(t, restricted(name, ""))
	}
	alice := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "photos", Name: "alice"}
	rules := slices.Concat(keepingSecrets, editing)
	token := newPerson(t, alice.Namespace, alice.Name, rules)
	for _, other := range []string{"editorial", "shop"} {
		permit(t, metav1.ObjectMeta{Namespace: other, Name: alice.Name}, alice, rules)
	}
	var darkrooms []*v1alpha1.Darkroom
	for _, of := range fleet {
		darkroom := newDarkroom(of.namespace, of.name).SubDomains(of.name).Replicas(of.replicas).Obj()
		folder := "/images"
		if of.namespace != "shop" {
			folder = "/uploads"
			darkroom.Spec.Source = theSources.s3()
			darkroom.Spec.Source.PathPrefix = folder
		}
		darkroom.Spec.Probe = &v1alpha1.Probe{Path: folder + "/" + of.scene + ".jpg"}
		must(t, kube.Create(t.Context(), darkroom, client.FieldOwner("kubectl-create")))
		darkrooms = append(darkrooms, darkroom)
	}
	for _, darkroom := range darkrooms {
		waitSettled(t, darkroom)
	}
	runSteps(t, "screenshots.mjs", []string{strings.TrimPrefix(server.URL, "http://")},
		"URL="+strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "TOKEN="+token, "COLLEAGUE="+newPerson(t, alice.Namespace, "bob", editing),
		"SCREENSHOTS="+filepath.Join(binaries, "screenshots"))
}
