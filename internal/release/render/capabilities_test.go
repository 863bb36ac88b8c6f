package render

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Renderings are kept for as long as the pointer is the same. (A real API server does
// not change its version while it runs.)
func TestCapabilitiesAreAnotherPointerOnlyWhenTheClusterHasChanged(t *testing.T) {
	cluster := &fake.FakeDiscovery{
		Fake:               &clienttesting.Fake{Resources: []*metav1.APIResourceList{{GroupVersion: "apps/v1"}}},
		FakedServerVersion: &version.Info{Major: "1", Minor: "36", GitVersion: "v1.36.3"},
	}
	capabilities, err := NewCapabilities(cluster)
	if err != nil {
		t.Fatal(err)
	}
	first := capabilities.Get()
	refreshed := func() bool {
		t.Helper()
		if err := capabilities.refresh(); err != nil {
			t.Fatal(err)
		}
		changed := capabilities.Get() != first
		first = capabilities.Get()
		return changed
	}
	if refreshed() {
		t.Error("nothing has changed")
	}
	cluster.FakedServerVersion = &version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.0"}
	if !refreshed() || first.KubeVersion.Version != "v1.37.0" {
		t.Errorf("the upgrade to v1.37.0 was not noticed: %s", first.KubeVersion.Version)
	}
	cluster.Resources = append(cluster.Resources, &metav1.APIResourceList{GroupVersion: "gateway.networking.k8s.io/v1"})
	if !refreshed() || !first.APIVersions.Has("gateway.networking.k8s.io/v1") {
		t.Errorf("a new group was not noticed: %v", first.APIVersions)
	}
}

// A manager that takes over must know the cluster as it is, not as it was when it began
// to stand by.
func TestCapabilitiesAreRefreshedByManagersThatStandBy(t *testing.T) {
	var runnable manager.Runnable = &Capabilities{}
	if elected, ok := runnable.(manager.LeaderElectionRunnable); !ok || elected.NeedLeaderElection() {
		t.Error("only the leader refreshes them")
	}
}
