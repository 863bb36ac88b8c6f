package hosts

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// serving returns the Darkroom photos of a namespace, which serves images at a domain.
func serving(namespace, domain string) *v1alpha1.Darkroom {
	darkroom := darkroomOf(types.NamespacedName{Namespace: namespace, Name: "photos"})
	darkroom.Status.Domains = []string{domain}
	return darkroom
}

func TestALostLeaseIsCreatedForTheDarkroomThatServesTheHost(t *testing.T) {
	theirs := serving("theirs", "theirs.example.com")
	theirs.Status.Installation = "another"
	cluster := fakeCluster(serving("a", "a.example.com"), serving("b", "b.example.com"), serving("kept", host), theirs,
		leaseOf("other/photos"))
	claims := (&clusterModel{live: cluster}).operator(cluster)
	claims.Handles = func(darkroom *v1alpha1.Darkroom) bool { return darkroom.Namespace != "theirs" }

	if err := claims.RestoreAll(t.Context()); err != nil {
		t.Fatal(err)
	}

	got, err := Holders(t.Context(), cluster, leases)
	want := map[string]string{
		"a.example.com": "a/photos", "b.example.com": "b/photos", "theirs.example.com": "theirs/photos",
		host: "other/photos",
	}
	if err != nil || len(got) != len(want) {
		t.Errorf("got the holders %v (%v), want %v", got, err, want)
	}
	for restored, holder := range want {
		if got[restored].String() != holder {
			t.Errorf("%s: the Lease names %s, want %s", restored, got[restored], holder)
		}
	}
	lease, err := claims.lease(t.Context(), cluster, "theirs.example.com")
	if err != nil || lease.Annotations[v1alpha1.AnnotationInstallation] != "another" {
		t.Errorf("got %v (%v), want the Lease of the other installation, which can give it up", lease, err)
	}
}

func TestOnlyTheWatchedNamespacesAreRestored(t *testing.T) {
	cluster := fakeCluster(serving("a", host))
	for _, watched := range []string{"b", "a"} {
		claims := (&clusterModel{live: cluster}).operator(cluster)
		claims.Watched = []string{watched}
		if err := claims.RestoreAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := Holders(t.Context(), cluster, leases)
		if _, restored := got[host]; err != nil || restored != (watched == "a") {
			t.Errorf("an operator of namespace %s: got the holders %v (%v)", watched, got, err)
		}
	}
}

func TestADeletedLeaseIsRestoredWhileItsHolderNeedsTheHost(t *testing.T) {
	photos := types.NamespacedName{Namespace: "a", Name: "photos"}
	wanting, dropped, route := darkroomOf(photos, host), darkroomOf(photos), routeOf(photos)
	for name, test := range map[string]struct {
		objects []client.Object
		want    string // the holder afterwards, if the host has a Lease
	}{
		"the holder wants the host":           {[]client.Object{wanting}, "a/photos"},
		"the holder still routes the host":    {[]client.Object{dropped, route}, "a/photos"},
		"the holder has dropped the host":     {[]client.Object{dropped}, ""},
		"the holder is gone":                  {nil, ""},
		"another Darkroom has claimed it now": {[]client.Object{wanting, leaseOf("b/other")}, "b/other"},
	} {
		cluster := fakeCluster(test.objects...)
		claims := (&clusterModel{live: cluster}).operator(cluster)
		hasLease, err := claims.Restore(t.Context(), photos, host)
		if err != nil || hasLease != (test.want != "") {
			t.Errorf("%s: got %t (%v), want %t", name, hasLease, err, test.want != "")
		}
		got, err := Holders(t.Context(), cluster, leases)
		if holder, found := got[host]; err != nil || found && holder.String() != test.want || found != hasLease {
			t.Errorf("%s: got the holders %v (%v), want %q", name, got, err, test.want)
		}
	}
}

// A Lease may be lost while another Darkroom waits for its host, and may still be missing when that Darkroom claims it.
func TestALostHostIsNotFreeWhileADarkroomServesIt(t *testing.T) {
	claimant, other := types.NamespacedName{Namespace: "a", Name: "photos"}, types.NamespacedName{Namespace: "b", Name: "photos"}
	for name, test := range map[string]struct {
		wants, serves, routes, ownServes bool
		holder                           types.NamespacedName
		leaving                          bool
	}{
		"another one wants and serves it": {wants: true, serves: true, holder: other},
		"another one has dropped it":      {serves: true, holder: claimant},
		"another one drops it":            {serves: true, routes: true, holder: other, leaving: true},
		"another one waits for it":        {wants: true, holder: claimant},
		"both serve it":                   {wants: true, serves: true, ownServes: true, holder: claimant},
	} {
		photos, rival := darkroomOf(claimant, host), darkroomOf(other)
		if test.wants {
			rival.Spec.SubDomains = []string{host}
		}
		if test.serves {
			rival.Status.Domains = []string{host}
		}
		if test.ownServes {
			photos.Status.Domains = []string{host}
		}
		cluster := fakeCluster(photos, rival)
		if test.routes {
			if err := cluster.Create(t.Context(), routeOf(other)); err != nil {
				t.Fatal(err)
			}
		}
		refused, err := (&clusterModel{live: cluster}).operator(cluster).Claim(t.Context(), photos)
		var want []Refusal
		if test.holder == other {
			want = []Refusal{{Host: host, Holder: other, Leaving: test.leaving}}
		}
		if err != nil || !slices.Equal(refused, want) {
			t.Errorf("%s: refused %+v (%v), want %+v", name, refused, err, want)
		}
		if got, err := Holders(t.Context(), cluster, leases); err != nil || got[host] != test.holder {
			t.Errorf("%s: got the holders %v (%v), want %s", name, got, err, test.holder)
		}
	}
}
