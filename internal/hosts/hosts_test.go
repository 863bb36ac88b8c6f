package hosts

import (
	"context"
	"fmt"
	"slices"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// clusterModel is a cluster with two operators: fresh is the leader, and slow has outdated caches.
type clusterModel struct {
	*rapid.T

	live        client.WithWatch
	stale       client.Client
	fresh, slow *Claims
	// created is the number of Darkrooms so far.
	created int
}

const (
	leases = "operators"
	host   = "photos.example.com"
)

func newClusterModel(t *rapid.T) *clusterModel {
	m := &clusterModel{T: t, live: fakeCluster()}
	m.fresh = m.operator(m.live)
	m.remember()
	return m
}

func fakeCluster(objects ...client.Object) client.WithWatch {
	scheme := runtime.NewScheme()
	_, _ = clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&coordinationv1.Lease{}, indexHolder, holder).WithIndex(&v1alpha1.Darkroom{}, indexDomain, domains).
		WithIndex(&v1alpha1.Darkroom{}, indexHost, func(object client.Object) []string {
			darkroom, _ := object.(*v1alpha1.Darkroom)
			return darkroom.Spec.SubDomains
		}).Build()
}

// darkroomOf returns a Darkroom that wants some hosts, and routeOf the Ingress of its name with the host.
func darkroomOf(key types.NamespacedName, hosts ...string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       v1alpha1.DarkroomSpec{SubDomains: hosts},
	}
}

func routeOf(key types.NamespacedName) *networkingv1.Ingress {
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: host}}},
	}
}

// leaseOf returns the Lease of the host, held by NAMESPACE/NAME.
func leaseOf(holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: leases, Name: host, Labels: map[string]string{v1alpha1.LabelHost: "true"},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder},
	}
}

// cachedClient reads from a cache and writes to the cluster.
type cachedClient struct {
	client.Client

	cache client.Reader
}

func (c cachedClient) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption,
) error {
	return c.cache.Get(ctx, key, object, opts...)
}

func (c cachedClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.cache.List(ctx, list, opts...)
}

func (m *clusterModel) operator(cache client.Reader) *Claims {
	return &Claims{
		Client: cachedClient{m.live, cache}, Uncached: m.live, Namespace: leases, Installation: "ours",
		HostsOf: func(darkroom *v1alpha1.Darkroom) []string { return darkroom.Spec.SubDomains },
		Handles: func(*v1alpha1.Darkroom) bool { return true },
		Routes:  func() bool { return false },
	}
}

// remember updates the caches of the slow operator to the current state.
func (m *clusterModel) remember() {
	darkrooms, held := &v1alpha1.DarkroomList{}, &coordinationv1.LeaseList{}
	m.must(m.live.List(m.Context(), darkrooms))
	m.must(m.live.List(m.Context(), held))
	var objects []client.Object
	for i := range darkrooms.Items {
		objects = append(objects, &darkrooms.Items[i])
	}
	for i := range held.Items {
		objects = append(objects, &held.Items[i])
	}
	m.stale = fakeCluster(objects...)
	m.slow = m.operator(m.stale)
	m.slow.Installation = m.fresh.Installation
}

func (m *clusterModel) must(err error) {
	if err != nil {
		m.Fatal(err)
	}
}

// edit creates, changes or deletes a Darkroom, with or without the host in its spec.
func (m *clusterModel) edit(key types.NamespacedName) {
	darkroom := &v1alpha1.Darkroom{}
	err := m.live.Get(m.Context(), key, darkroom)
	wanted := [][]string{nil, {host}, {"other.example.com"}}[rapid.IntRange(0, 2).Draw(m.T, "wants")]
	switch {
	case err != nil:
		m.created++
		darkroom = &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name, Generation: 1,
			UID: types.UID(fmt.Sprint(m.created)),
		}, Spec: v1alpha1.DarkroomSpec{SubDomains: wanted}}
		m.must(m.live.Create(m.Context(), darkroom))
	case rapid.IntRange(0, 4).Draw(m.T, "delete") == 0:
		if m.lease().Name == "" {
			// As the finalizer does: without Lease and Darkroom, the owner of the route would be unknown.
			m.route(key, false)
		}
		m.must(m.live.Delete(m.Context(), darkroom))
	default:
		darkroom.Spec.SubDomains, darkroom.Generation = wanted, darkroom.Generation+1
		m.must(m.live.Update(m.Context(), darkroom))
	}
}

// reconcile runs one reconcile of a Darkroom, with the caches of an operator.
func (m *clusterModel) reconcile(by *Claims, key types.NamespacedName) {
	darkroom := &v1alpha1.Darkroom{}
	if by.Client.Get(m.Context(), key, darkroom) == nil {
		refusals, err := by.Claim(m.Context(), darkroom)
		if err != nil {
			return // it is retried
		}
		given := slices.Contains(darkroom.Spec.SubDomains, host) && len(refusals) == 0
		m.route(key, given)
		m.report(by, key, given)
	} else if m.live.Get(m.Context(), key, &v1alpha1.Darkroom{}) != nil {
		m.route(key, false) // Kubernetes garbage-collects the route
	}
	m.giveUp(by, key)
}

// giveUp gives up the hosts that a Darkroom does not need. All operators see the deletion of its Lease, and none restores
// it: neither another installation nor one that may not read the Darkroom.
func (m *clusterModel) giveUp(by *Claims, key types.NamespacedName) {
	had := HolderOf(m.lease())
	_ = by.GiveUpUnused(m.Context(), key)
	if had.Name == "" || m.lease().Name != "" {
		return
	}
	another, blind := m.operator(m.live), m.operator(fakeCluster())
	another.Handles = func(*v1alpha1.Darkroom) bool { return false }
	blind.Uncached = withoutRights(m.live)
	for name, seenBy := range map[string]*Claims{"the same": m.fresh, "another": another, "a blind": blind} {
		if restored, err := seenBy.Restore(m.Context(), had, host); restored || err != nil {
			m.Fatalf("%s operator restored the Lease that %s has given up (%v)", name, had, err)
		}
	}
}

// withoutRights returns a client that may not read Darkrooms.
func withoutRights(live client.WithWatch) client.Client {
	return interceptor.NewClient(live, interceptor.Funcs{
		Get: func(ctx context.Context, in client.WithWatch, key client.ObjectKey, to client.Object, _ ...client.GetOption) error {
			if _, isDarkroom := to.(*v1alpha1.Darkroom); isDarkroom {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "darkrooms"}, key.Name, nil)
			}
			return in.Get(ctx, key, to)
		},
	})
}

// route writes or deletes the Ingress of a Darkroom.
func (m *clusterModel) route(key types.NamespacedName, given bool) {
	m.must(client.IgnoreNotFound(m.live.Delete(m.Context(), routeOf(key))))
	if given {
		m.must(m.live.Create(m.Context(), routeOf(key)))
	}
}

// report updates the status of a Darkroom after its Ingress.
func (m *clusterModel) report(by *Claims, key types.NamespacedName, given bool) {
	darkroom := &v1alpha1.Darkroom{}
	if m.live.Get(m.Context(), key, darkroom) != nil {
		return
	}
	darkroom.Status = v1alpha1.DarkroomStatus{Installation: by.Installation}
	if given {
		darkroom.Status.Domains = []string{host}
	}
	m.must(m.live.Update(m.Context(), darkroom))
}

// loseLease deletes the Lease, as if its namespace were deleted, while its holder exists and all caches are up to date.
// If a holder does not report its route, an earlier Darkroom of the same name left the route. Its finalizer would have
// prevented that, so loseLease keeps such a Lease. A holder without a route loses its claim, and the caches show that.
func (m *clusterModel) loseLease() {
	lease, darkroom := m.lease(), &v1alpha1.Darkroom{}
	holder := HolderOf(lease)
	isRouted := slices.Contains(m.routed(), holder)
	if m.live.Get(m.Context(), holder, darkroom) == nil && isRouted == slices.Contains(darkroom.Status.Domains, host) {
		m.remember()
		m.must(m.live.Delete(m.Context(), lease))
		if !isRouted {
			m.remember()
		}
	}
}

// routed returns the Darkrooms whose Ingress has the host.
func (m *clusterModel) routed() (keys []types.NamespacedName) {
	list := &networkingv1.IngressList{}
	m.must(m.live.List(m.Context(), list))
	for i := range list.Items {
		keys = append(keys, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return keys
}

// A host is never in the routes of two Darkrooms. A Darkroom that holds the host keeps it as long as it wants the host.
// Neither other Darkrooms, an operator with outdated caches, another installation, the first shard to start nor the
// loss of the Lease change this.
func TestAHostStaysWithItsDarkroomAndIsRoutedOnce(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		m := newClusterModel(t)
		keys := []types.NamespacedName{{Namespace: "a", Name: "photos"}, {Namespace: "b", Name: "photos"}}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			key := rapid.SampledFrom(keys).Draw(t, "darkroom")
			before := m.routed()
			switch rapid.IntRange(0, 8).Draw(t, "step") {
			case 0, 1:
				m.edit(key)
			case 2, 3:
				m.reconcile(m.fresh, key)
			case 4:
				m.reconcileStale(key)
			case 5:
				m.remember()
			case 6:
				m.claimOnly(key)
				if rapid.Bool().Draw(t, "move") {
					m.move()
					m.claimOnly(key)
				}
				m.reconcileByAnother(key)
			case 7:
				m.loseLease()
			case 8:
				m.loseLease()
				m.startFirst(key)
				m.claimOnly(key)
			}
			after := m.routed()
			if len(after) > 1 {
				t.Fatalf("the host is routed to %v, want at most one Darkroom", after)
			}
			for _, had := range before {
				darkroom := &v1alpha1.Darkroom{}
				err := m.live.Get(m.Context(), had, darkroom)
				if err == nil && slices.Contains(darkroom.Spec.SubDomains, host) && !slices.Contains(after, had) && had != key {
					t.Fatalf("%s wants the host, but lost its route", had)
				}
			}
		}
		for range 3 { // a waiting Darkroom gets the host
			for _, key := range keys {
				m.reconcile(m.fresh, key)
			}
		}
		m.isServed(keys)
	})
}

// reconcileStale runs a reconcile by the slow operator. It writes no route if the spec has changed, because a real
// write would fail or be corrected by the next reconcile.
func (m *clusterModel) reconcileStale(key types.NamespacedName) {
	cached, now := &v1alpha1.Darkroom{}, &v1alpha1.Darkroom{}
	isCached, isLive := m.stale.Get(m.Context(), key, cached) == nil, m.live.Get(m.Context(), key, now) == nil
	if isCached && isLive && cached.UID == now.UID && cached.Generation == now.Generation {
		m.reconcile(m.slow, key)
		return
	}
	m.giveUp(m.slow, key)
}

// claimOnly runs a reconcile that fails before it writes a route.
func (m *clusterModel) claimOnly(key types.NamespacedName) {
	darkroom := &v1alpha1.Darkroom{}
	if m.live.Get(m.Context(), key, darkroom) == nil {
		_, _ = m.fresh.Claim(m.Context(), darkroom)
	}
}

// move hands all Darkrooms over to the other installation.
func (m *clusterModel) move() {
	m.fresh.Installation = otherInstallation[m.fresh.Installation]
	m.slow.Installation = m.fresh.Installation
}

// otherInstallation maps each of the two installations to the other one.
var otherInstallation = map[string]string{"ours": "theirs", "theirs": "ours"}

// reconcileByAnother runs a reconcile by the other installation, which shares the Leases and handles none of the
// Darkrooms. It must not take the host from a Darkroom that wants it or claimed it through this installation.
func (m *clusterModel) reconcileByAnother(key types.NamespacedName) {
	another := m.operator(m.live)
	another.Installation = otherInstallation[m.fresh.Installation]
	another.Handles = func(*v1alpha1.Darkroom) bool { return false }
	before, darkroom := m.lease(), &v1alpha1.Darkroom{}
	m.must(another.GiveUpUnused(m.Context(), key))
	holder := HolderOf(before)
	if HolderOf(m.lease()) == holder || m.live.Get(m.Context(), holder, darkroom) != nil {
		return
	}
	claimed := before.Annotations[v1alpha1.AnnotationInstallation] == m.fresh.Installation
	if claimed || slices.Contains(darkroom.Spec.SubDomains, host) {
		m.Fatalf("another installation took the host from %s, which wants it or claimed it through this one", holder)
	}
}

// startFirst starts a process of a shard or of the other installation, before any other process runs, and reconciles the
// Darkroom that it handles.
func (m *clusterModel) startFirst(key types.NamespacedName) {
	var cached []client.Object
	if darkroom := (&v1alpha1.Darkroom{}); m.live.Get(m.Context(), key, darkroom) == nil {
		cached = append(cached, darkroom)
	}
	first := m.operator(fakeCluster(cached...))
	first.Installation = m.fresh.Installation
	if rapid.Bool().Draw(m.T, "other installation") {
		first.Installation = otherInstallation[m.fresh.Installation]
		first.Handles = func(darkroom *v1alpha1.Darkroom) bool { return client.ObjectKeyFromObject(darkroom) == key }
	}
	m.must(first.RestoreAll(m.Context()))
	m.reconcile(first, key)
	m.remember() // the others start now
}

// lease returns the Lease of the host; an empty one if there is none.
func (m *clusterModel) lease() *coordinationv1.Lease {
	lease := &coordinationv1.Lease{}
	m.must(client.IgnoreNotFound(m.live.Get(m.Context(), types.NamespacedName{Namespace: leases, Name: host}, lease)))
	return lease
}

func (m *clusterModel) isServed(keys []types.NamespacedName) {
	for _, key := range keys {
		darkroom := &v1alpha1.Darkroom{}
		if m.live.Get(m.Context(), key, darkroom) != nil || !slices.Contains(darkroom.Spec.SubDomains, host) {
			continue
		}
		routed, holder := m.routed(), HolderOf(m.lease())
		if len(routed) != 1 || holder != routed[0] {
			m.Fatalf("%s wants the host: routed to %v, want only the holder in the Lease, %s", key, routed, holder)
		}
	}
}
