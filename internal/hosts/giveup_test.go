package hosts

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Installations that share Leases may use different base domains. An installation gives up a host that it claimed or
// whose Darkroom it handles, and every host whose Darkroom is gone.
func TestAHostIsGivenUpByTheInstallationThatClaimedIt(t *testing.T) {
	photos := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "photos", UID: "uid", Generation: 1}}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: leases, Name: host}}
	assign(lease, photos, "one")
	for name, test := range map[string]struct {
		objects          []client.Object
		by               string
		handles, givesUp bool
	}{
		"the claimant, after the Darkroom has moved": {[]client.Object{photos}, "one", false, true},
		"another one": {[]client.Object{photos}, "two", false, false},
		"another one, which handles the Darkroom": {[]client.Object{photos}, "two", true, true},
		"any, once the Darkroom is gone":          {nil, "two", false, true},
	} {
		cluster := fakeCluster(append(test.objects, lease.DeepCopy())...)
		claims := (&clusterModel{live: cluster}).operator(cluster)
		claims.Installation, claims.Handles = test.by, func(*v1alpha1.Darkroom) bool { return test.handles }
		if err := claims.GiveUpUnused(t.Context(), client.ObjectKeyFromObject(photos)); err != nil {
			t.Fatal(err)
		}
		err := cluster.Get(t.Context(), client.ObjectKeyFromObject(lease), &coordinationv1.Lease{})
		if isGone := apierrors.IsNotFound(err); isGone != test.givesUp {
			t.Errorf("%s: given up: %t, want %t (%v)", name, isGone, test.givesUp, err)
		}
	}
}
