package hosts

import (
	"errors"
	"slices"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestDecide(t *testing.T) {
	darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: "photos", UID: "uid", Generation: 2,
	}}
	claimed := func(holder, claimedFor string) *coordinationv1.Lease {
		lease := leaseOf(holder)
		lease.Annotations = map[string]string{
			v1alpha1.AnnotationClaimedFor: claimedFor, v1alpha1.AnnotationInstallation: "ours",
		}
		return lease
	}
	movedLease := claimed("team/photos", "uid/2")
	movedLease.Annotations[v1alpha1.AnnotationInstallation] = "theirs"
	for name, test := range map[string]struct {
		lease *coordinationv1.Lease
		want  step
	}{
		"no Lease":                           {nil, create},
		"its own Lease for this spec":        {claimed("team/photos", "uid/2"), keep},
		"its own Lease for an older spec":    {claimed("team/photos", "uid/1"), renew},
		"its name, but an earlier UID":       {claimed("team/photos", "other/2"), renew},
		"written by another installation":    {movedLease, renew},
		"the Lease of another Darkroom":      {claimed("team/other", "uid/2"), contend},
		"the same name in another namespace": {claimed("other/photos", "uid/2"), contend},
		"a holder without a namespace":       {claimed("no-slash", "uid/2"), contend},
		"a holder of three parts":            {claimed("team/photos/x", "uid/2"), contend},
	} {
		if got := decide(darkroom, test.lease, "ours"); got != test.want {
			t.Errorf("%s: got step %d, want %d", name, got, test.want)
		}
	}
}

// A refusal names the holder. The waiting Darkroom gets the host once the holder and its routes are gone. The API
// server decides even if the caches do not show the Lease yet.
func TestTheHostOfAnotherIsRefusedUntilItIsGone(t *testing.T) {
	photos := &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "photos", UID: "uid", Generation: 1},
		Spec:       v1alpha1.DarkroomSpec{SubDomains: []string{host}},
	}
	holder := types.NamespacedName{Namespace: "b", Name: "other"}
	wanting, dropped, route := darkroomOf(holder, host), darkroomOf(holder), routeOf(holder)
	label := map[string]string{v1alpha1.LabelHost: "true"}
	refused, leaving := Refusal{Host: host, Holder: holder}, Refusal{Host: host, Holder: holder, Leaving: true}
	for name, test := range map[string]struct {
		names   string
		labels  map[string]string
		objects []client.Object
		want    []Refusal
		err     error
	}{
		"the holder wants it":               {"b/other", label, []client.Object{wanting}, []Refusal{refused}, nil},
		"the holder has dropped it":         {"b/other", label, []client.Object{dropped}, []Refusal{leaving}, nil},
		"the holder is gone, not its route": {"b/other", label, []client.Object{route}, []Refusal{leaving}, nil},
		"the holder is gone":                {"b/other", label, nil, nil, nil},
		"the Lease names no Darkroom":       {"no-slash", label, nil, nil, nil},
		"the Lease is another program's":    {"b/other", nil, nil, nil, errForeignLease},
	} {
		for _, cachesLag := range []bool{false, true} {
			lease := leaseOf(test.names)
			lease.Labels = test.labels
			cluster := fakeCluster(append(test.objects, lease, photos)...)
			caches := cluster
			if cachesLag {
				caches = fakeCluster(photos)
			}
			got, err := (&clusterModel{live: cluster}).operator(caches).Claim(t.Context(), photos)
			if !errors.Is(err, test.err) || !slices.Equal(got, test.want) {
				t.Errorf("%s (caches lag: %t): refused %+v (%v), want %+v (%v)", name, cachesLag, got, err, test.want, test.err)
			}
			if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); err != nil {
				t.Fatal(err)
			}
			if has := HolderOf(lease) == client.ObjectKeyFromObject(photos); has != (test.want == nil && test.err == nil) {
				t.Errorf("%s (caches lag: %t): the Lease names %s, want refusals %+v and error %v",
					name, cachesLag, HolderOf(lease), test.want, test.err)
			}
		}
	}
}

func TestRefusalsAndWaitingDarkroomsAreReadFromTheCaches(t *testing.T) {
	inA := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "a", Name: name} }
	holder, waiting := darkroomOf(inA("holder"), host), darkroomOf(inA("waiting"), host, "free.example.com")
	cluster := fakeCluster(holder, waiting, darkroomOf(inA("other"), "other.example.com"), leaseOf("a/holder"))
	claims := (&clusterModel{live: cluster}).operator(cluster)

	got, err := claims.Refusals(t.Context(), waiting)
	want := []Refusal{{Host: host, Holder: inA("holder")}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the waiting Darkroom: got %v (%v), want %v", got, err, want)
	}
	if got, err := claims.Refusals(t.Context(), holder); err != nil || len(got) != 0 {
		t.Errorf("the holder: got %v (%v), want none", got, err)
	}

	keys, err := claims.Wanting(t.Context(), host)
	slices.SortFunc(keys, func(a, b types.NamespacedName) int { return len(a.Name) - len(b.Name) })
	wanted := []types.NamespacedName{inA("holder"), inA("waiting")}
	if err != nil || !slices.Equal(keys, wanted) {
		t.Errorf("got %v (%v), want %v", keys, err, wanted)
	}
}
