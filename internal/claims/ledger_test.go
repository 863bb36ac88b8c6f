package claims

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
)

// viaGateway is the name of Darkrooms whose routes are HTTPRoutes; those of others are Ingresses.
const viaGateway = "gateway"

var (
	hostsOfTests = []string{"one.example.com", "two.example.com"}
	keysOfTests  = []types.NamespacedName{key("a", "early"), key("a", "late"), key("b", "early"), key("b", viaGateway)}
)

// town is a cluster with Darkrooms that claim hosts, an operator whose caches lag behind, and users who edit
// what they may.
type town struct {
	t rapid.TB
	// live has all objects, and the caches show what there was of them: reconciled the Darkrooms that the operator
	// reconciles, darkrooms all of them, those of other shards included, and routes their routes.
	live, reconciled, darkrooms, routes store
	ledger                              *Ledger
	// due are the Darkrooms in the work queue, and later those that are put there after a while.
	due, later map[types.NamespacedName]bool
	// forged are the hosts that a user has ever written into the route of a Darkroom, and written the others that
	// the operator has written last. Who forges a host before it is due may have it early: nobody else suffers
	// from that.
	forged, written map[types.NamespacedName][]string
	// writes is the resource version of the last write.
	writes int
}

func newTown(t rapid.TB) *town {
	w := &town{
		t: t, live: store{}, due: map[types.NamespacedName]bool{}, later: map[types.NamespacedName]bool{},
		forged: map[types.NamespacedName][]string{}, written: map[types.NamespacedName][]string{},
	}
	w.start()
	return w
}

var townCache = Cache{
	HostsOf: func(darkroom *v1alpha1.Darkroom) []string { return slices.Clone(darkroom.Spec.SubDomains) },
	Handles: func(*v1alpha1.Darkroom) bool { return true },
	Routes:  true,
	Sharded: true,
}

// store has objects by kind and key. What is in it is replaced, never changed.
type store map[string]client.Object

func idOf(kind client.Object, key types.NamespacedName) string {
	return fmt.Sprintf("%T %s", kind, key)
}

func (s store) Get(_ context.Context, key types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	found := s[idOf(into, key)]
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, key.String())
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	return nil
}

// List lists the objects with a host in an index, or all.
func (s store) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	host, limited, indexed := "", false, townCache.Hosts
	if selector := (&client.ListOptions{}).ApplyOptions(options).FieldSelector; selector != nil {
		if host, limited = selector.RequiresExactMatch(indexHost); !limited {
			host, limited = selector.RequiresExactMatch(indexAssigned)
			indexed = assigned
		}
	}
	var found []runtime.Object
	for _, id := range slices.Sorted(maps.Keys(s)) {
		kind := strings.TrimSuffix(fmt.Sprintf("%T", into), "List")
		if strings.HasPrefix(id, kind+" ") && (!limited || slices.Contains(indexed(s[id]), host)) {
			found = append(found, s[id].DeepCopyObject())
		}
	}
	return meta.SetList(into, found)
}

func (w *town) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// put writes an object, as a copy.
func (w *town) put(object client.Object) {
	w.writes++
	object.SetResourceVersion(fmt.Sprint(w.writes))
	w.live[idOf(object, client.ObjectKeyFromObject(object))] = object.DeepCopyObject().(client.Object)
}

// darkroom returns a copy of a Darkroom; nil if there is none.
func (s store) darkroom(key types.NamespacedName) *v1alpha1.Darkroom {
	found := &v1alpha1.Darkroom{}
	if s.Get(context.Background(), key, found) != nil {
		return nil
	}
	return found
}

// routed returns the hosts of the route of a Darkroom.
func (w *town) routed(key types.NamespacedName) []string {
	return gateway.Hosts(w.live[idOf(routeOf(key), key)])
}

func routeOf(key types.NamespacedName) client.Object {
	meta := metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name,
		Labels: map[string]string{v1alpha1.LabelDarkroom: key.Name},
	}
	if key.Name == viaGateway {
		return &gatewayv1.HTTPRoute{ObjectMeta: meta}
	}
	return &networkingv1.Ingress{ObjectMeta: meta}
}

// write writes the route of a Darkroom.
func (w *town) write(darkroom *v1alpha1.Darkroom, hosts []string) {
	route := routeOf(client.ObjectKeyFromObject(darkroom))
	route.SetOwnerReferences([]metav1.OwnerReference{
		*metav1.NewControllerRef(darkroom, v1alpha1.GroupVersion.WithKind(v1alpha1.Kind)),
	})
	switch route := route.(type) {
	case *networkingv1.Ingress:
		for _, host := range hosts {
			route.Spec.Rules = append(route.Spec.Rules, networkingv1.IngressRule{Host: host})
		}
	case *gatewayv1.HTTPRoute:
		for _, host := range hosts {
			route.Spec.Hostnames = append(route.Spec.Hostnames, gatewayv1.Hostname(host))
		}
	}
	if before := w.live[idOf(route, client.ObjectKeyFromObject(route))]; before != nil {
		route.SetFinalizers(before.GetFinalizers())
		route.SetDeletionTimestamp(before.GetDeletionTimestamp())
	}
	if len(hosts) == 0 {
		w.remove(client.ObjectKeyFromObject(darkroom))
		return
	}
	w.put(route)
}

// remove deletes the route of a Darkroom; one with a finalizer stays with its hosts, which are still served.
func (w *town) remove(key types.NamespacedName) {
	id := idOf(routeOf(key), key)
	switch route := w.live[id]; {
	case route == nil, len(route.GetFinalizers()) == 0:
		delete(w.live, id)
	case route.GetDeletionTimestamp() == nil:
		leaving := route.DeepCopyObject().(client.Object)
		leaving.SetDeletionTimestamp(ptr.To(at(w.writes)))
		w.put(leaving)
	}
}

// isHidden reports whether the caches do not show the route of a Darkroom, because it has no label.
func (w *town) isHidden(key types.NamespacedName) bool {
	route := w.live[idOf(routeOf(key), key)]
	return route != nil && route.GetLabels() == nil
}

// isLeaving reports whether the route of a Darkroom is deleted, and still serves.
func (w *town) isLeaving(key types.NamespacedName) bool {
	route := w.live[idOf(routeOf(key), key)]
	return route != nil && route.GetDeletionTimestamp() != nil
}

// balance sets the finalizer of a load balancer on a route, or removes it from one that is deleted.
func (w *town) balance(t *rapid.T) {
	w.syncRoutes(t)
	key := rapid.SampledFrom(w.where(t, func(key types.NamespacedName) bool { return len(w.routed(key)) > 0 })).
		Draw(t, "route")
	if w.isLeaving(key) {
		delete(w.live, idOf(routeOf(key), key))
		return
	}
	route := w.live[idOf(routeOf(key), key)].DeepCopyObject().(client.Object)
	route.SetFinalizers([]string{"example.com/load-balancer"})
	w.put(route)
}

// one draws a Darkroom that there is.
func (w *town) one(t *rapid.T) *v1alpha1.Darkroom {
	return w.live.darkroom(rapid.SampledFrom(w.where(t,
		func(key types.NamespacedName) bool { return w.live.darkroom(key) != nil })).Draw(t, "Darkroom"))
}

// where returns the keys of which something is true. A step that has none is skipped.
func (w *town) where(t *rapid.T, is func(types.NamespacedName) bool) []types.NamespacedName {
	found := slices.DeleteFunc(slices.Clone(keysOfTests), func(key types.NamespacedName) bool { return !is(key) })
	if len(found) == 0 {
		t.Skip("there is none")
	}
	return found
}

func someHosts(t *rapid.T, least int) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(hostsOfTests), least, 2, rapid.ID[string]).Draw(t, "hosts")
}

// The steps of users.

func (w *town) create(t *rapid.T) {
	key := rapid.SampledFrom(w.where(t, func(key types.NamespacedName) bool { return w.live.darkroom(key) == nil })).
		Draw(t, "Darkroom")
	darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, UID: types.UID(fmt.Sprint(w.writes)),
		CreationTimestamp: at(w.writes / 4), // several in one second
	}}
	darkroom.Spec.SubDomains = someHosts(t, 0)
	w.put(darkroom)
	w.seen(t)
}

func (w *town) edit(t *rapid.T) {
	darkroom := w.one(t)
	switch {
	case rapid.IntRange(0, 3).Draw(t, "edit hosts, or pause or resume") > 0:
		darkroom.Spec.SubDomains = someHosts(t, 0)
	case v1alpha1.IsPaused(darkroom):
		darkroom.Annotations = nil
	default:
		darkroom.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	}
	w.put(darkroom)
	w.seen(t)
}

func (w *town) delete(t *rapid.T) {
	darkroom := w.one(t)
	darkroom.DeletionTimestamp = ptr.To(at(w.writes))
	w.put(darkroom)
	w.seen(t)
}

// end removes a Darkroom and the finalizer of the operator. Kubernetes deletes its route later; one that this process
// does not know of, at once.
func (w *town) end(t *rapid.T) {
	darkroom := w.one(t)
	key := client.ObjectKeyFromObject(darkroom)
	delete(w.live, idOf(darkroom, key))
	if len(w.ledger.by[key]) == 0 {
		delete(w.live, idOf(routeOf(key), key))
	}
	w.seen(t)
}

// drop deletes the route of a Darkroom.
func (w *town) drop(t *rapid.T) {
	w.syncRoutes(t)
	w.remove(rapid.SampledFrom(w.where(t, func(key types.NamespacedName) bool { return len(w.routed(key)) > 0 })).
		Draw(t, "route"))
}

// collect deletes the routes of Darkrooms that are gone, as Kubernetes does.
func (w *town) collect(*rapid.T) {
	for _, key := range keysOfTests {
		if w.isLeft(key) {
			w.remove(key)
		}
	}
}

// isLeft reports whether a route is that of a Darkroom that is gone.
func (w *town) isLeft(key types.NamespacedName) bool {
	route, darkroom := w.live[idOf(routeOf(key), key)], w.live.darkroom(key)
	return route != nil && (darkroom == nil || !metav1.IsControlledBy(route, darkroom))
}

// forge writes hosts into the route of a Darkroom, which users may.
func (w *town) forge(t *rapid.T) {
	routed := w.where(t, func(key types.NamespacedName) bool {
		return w.live.darkroom(key) != nil && len(w.routed(key)) > 0 && !w.isLeft(key)
	})
	key, hosts := rapid.SampledFrom(routed).Draw(t, "Darkroom"), someHosts(t, 1)
	for _, host := range hosts {
		if !slices.Contains(w.carried(key), host) {
			w.forged[key] = append(w.forged[key], host)
		}
	}
	w.written[key] = w.unforged(key, w.written[key])
	w.write(w.live.darkroom(key), hosts)
}

// strip removes the label of a Darkroom from its route, which the operator's caches then do not show any more.
func (w *town) strip(t *rapid.T) {
	w.syncRoutes(t)
	key := rapid.SampledFrom(w.where(t, func(key types.NamespacedName) bool { return len(w.routed(key)) > 0 })).
		Draw(t, "route")
	route := w.live[idOf(routeOf(key), key)].DeepCopyObject().(client.Object)
	route.SetLabels(nil)
	w.put(route)
}

// seen lets the operator see what a user did at once, or later.
func (w *town) seen(t *rapid.T) {
	if rapid.Bool().Draw(t, "seen at once") {
		w.syncReconciled(t)
	}
	if rapid.Bool().Draw(t, "claims are seen at once") {
		w.syncDarkrooms(t)
	}
}

// The steps of the operator.

// restart starts another process, with fresh caches.
func (w *town) restart(t *rapid.T) {
	if rapid.IntRange(0, 5).Draw(t, "restart") > 0 {
		t.Skip("restarts are rare")
	}
	w.start()
}

func (w *town) start() {
	for _, key := range keysOfTests {
		if w.isLeft(key) {
			delete(w.live, idOf(routeOf(key), key)) // whose it was is not known to the next process
		}
	}
	w.ledger = &Ledger{Cache: townCache, Wake: w.wake}
	w.syncAll(nil)
	w.wake(keysOfTests...)
}

func (w *town) wake(keys ...types.NamespacedName) {
	for _, key := range keys {
		w.due[key] = true
	}
}

func (w *town) syncAll(t *rapid.T) {
	w.syncReconciled(t)
	w.syncDarkrooms(t)
	w.syncRoutes(t)
}

func (w *town) syncReconciled(*rapid.T) {
	w.sync(&w.reconciled, true)
}

func (w *town) syncDarkrooms(*rapid.T) {
	w.sync(&w.darkrooms, true)
}

func (w *town) syncRoutes(*rapid.T) {
	w.sync(&w.routes, false)
}

// sync brings a cache up to date, and enqueues the Darkrooms that the changes concern.
func (w *town) sync(cache *store, darkrooms bool) {
	before, now := *cache, maps.Clone(w.live)
	maps.DeleteFunc(now, func(_ string, object client.Object) bool {
		_, isDarkroom := object.(*v1alpha1.Darkroom)
		return isDarkroom != darkrooms
	})
	if !darkrooms {
		maps.DeleteFunc(now, func(_ string, route client.Object) bool { return route.GetLabels() == nil })
	}
	*cache = now
	w.ledger.Darkrooms, w.ledger.Reader, w.ledger.Live = w.darkrooms, reader{w.routes, w.darkrooms}, w.live
	if w.darkrooms == nil || w.routes == nil {
		return // of a new process, whose caches are read before it works
	}
	changed := store{}
	maps.Copy(changed, before)
	maps.Copy(changed, now)
	for id, object := range changed {
		was, is := before[id], now[id]
		if was != nil && is != nil && (was == is || sameClaims(was, is)) {
			continue
		}
		if cache != &w.darkrooms {
			w.wake(client.ObjectKeyFromObject(object))
		}
		if cache == &w.reconciled {
			continue
		}
		for _, object := range []client.Object{was, is} {
			if object != nil {
				rivals, err := w.ledger.Rivals(context.Background(), object)
				w.must(err)
				w.wake(rivals...)
			}
		}
	}
}

// sameClaims reports whether nothing but the status of a Darkroom has changed, which enqueues nobody.
func sameClaims(was, is client.Object) bool {
	_, isDarkroom := is.(*v1alpha1.Darkroom)
	return isDarkroom && was.GetUID() == is.GetUID() && slices.Equal(townCache.Hosts(was), townCache.Hosts(is)) &&
		maps.Equal(was.GetAnnotations(), is.GetAnnotations()) &&
		was.GetDeletionTimestamp().Equal(is.GetDeletionTimestamp())
}

// reader reads Darkrooms from one cache, and all else from the other.
type reader struct {
	client.Reader
	darkrooms client.Reader
}

func (r reader) Get(
	ctx context.Context, key types.NamespacedName, object client.Object, options ...client.GetOption,
) error {
	if _, isDarkroom := object.(*v1alpha1.Darkroom); isDarkroom {
		return r.darkrooms.Get(ctx, key, object, options...)
	}
	return r.Reader.Get(ctx, key, object, options...)
}

// work reconciles one of the Darkrooms in the queue. A write may fail, and one that was done may be reported as failed.
func (w *town) work(t *rapid.T) {
	due := w.where(t, func(key types.NamespacedName) bool { return w.due[key] })
	outcome := rapid.SampledFrom([]string{"done", "done", "not done", "done, but reported as failed"}).Draw(t, "outcome")
	key := rapid.SampledFrom(due).Draw(t, "due")
	w.reconcile(key, outcome, func() {
		others := slices.DeleteFunc(due, func(other types.NamespacedName) bool { return other == key })
		if rapid.Bool().Draw(t, "meanwhile") && len(others) > 0 {
			w.syncRoutes(t)
			w.reconcile(rapid.SampledFrom(others).Draw(t, "meanwhile due"), "done", func() {})
		}
	})
}

// killed is the outcome of a reconcile that has written the route, but not the status.
const killed = "killed between route and status"

// reconcile lets something happen meanwhile, between the write and the end.
func (w *town) reconcile(key types.NamespacedName, outcome string, meanwhile func()) {
	delete(w.due, key)
	ctx, failed := context.Background(), outcome != "done"
	if failed {
		w.due[key] = true
	}
	darkroom, live := w.reconciled.darkroom(key), w.live.darkroom(key)
	if darkroom != nil && (live == nil || live.UID != darkroom.UID) {
		// Its writes fail.
		outcome, failed, w.due[key] = "not done", true, true
	}
	if w.isLeft(key) && outcome != "not done" && darkroom != nil && darkroom.DeletionTimestamp == nil {
		outcome, w.due[key] = "not done", true // the name of the route is taken
	}
	switch {
	case darkroom == nil:
		w.must(w.ledger.Forget(ctx, key))
		w.later[key] = w.ledger.MustAsk(ctx, key, nil)
	case darkroom.DeletionTimestamp != nil:
		if outcome != "not done" {
			if !w.isHidden(key) { // Kubernetes deletes such a route when its owner is gone
				w.remove(key)
				if w.isLeaving(key) {
					failed, w.due[key] = true, true // it is tried again
				}
			}
			if !failed {
				delete(w.live, idOf(live, key))
			}
		}
		w.must(w.ledger.Leave(ctx, darkroom))
	case v1alpha1.IsPaused(darkroom):
		w.must(w.ledger.Commit(ctx, key, nil))
		w.later[key] = w.ledger.MustAsk(ctx, key, nil)
	default:
		kept := w.ownedBy(key)
		judgement, err := w.ledger.Judge(ctx, darkroom)
		w.must(err)
		for _, host := range kept {
			if slices.Contains(darkroom.Spec.SubDomains, host) && !slices.Contains(judgement.Given, host) {
				w.t.Fatalf("%s loses %s, although its claim is the oldest: %+v", key, host, judgement.Refusals)
			}
		}
		if outcome != "not done" {
			if !slices.Equal(w.routed(key), judgement.Given) || w.isHidden(key) {
				w.write(darkroom, judgement.Given)
			}
			w.written[key] = w.unforged(key, append(w.carried(key), judgement.Given...))
			if domains := w.reported(live, judgement.Given); outcome != killed && !slices.Equal(live.Status.Domains, domains) {
				live.Status.Domains = domains
				w.put(live)
			}
		}
		meanwhile()
		w.must(w.ledger.Commit(ctx, key, judgement))
		w.later[key] = w.ledger.MustAsk(ctx, key, judgement)
	}
}

// reported returns the domains in the status: the hosts of the route that are or were assigned. A route that a
// load balancer does not let go keeps them there.
func (w *town) reported(darkroom *v1alpha1.Darkroom, given []string) []string {
	return slices.DeleteFunc(w.routed(client.ObjectKeyFromObject(darkroom)), func(host string) bool {
		return !slices.Contains(given, host) && !slices.Contains(darkroom.Status.Domains, host)
	})
}

// unforged returns the hosts that no user has written into the route of a Darkroom.
func (w *town) unforged(key types.NamespacedName, hosts []string) []string {
	return slices.DeleteFunc(slices.Clone(hosts), func(host string) bool { return slices.Contains(w.forged[key], host) })
}

// ownedBy returns the hosts that the operator has routed to a Darkroom that is their oldest claimant, in the cluster
// and in the caches.
func (w *town) ownedBy(key types.NamespacedName) []string {
	return slices.DeleteFunc(w.carried(key), func(host string) bool {
		return w.oldest(w.live, host) != key || w.oldest(w.darkrooms, host) != key
	})
}

// carried returns the hosts that the operator has routed to a Darkroom.
func (w *town) carried(key types.NamespacedName) []string {
	routed := w.routed(key)
	return slices.DeleteFunc(slices.Clone(w.written[key]),
		func(host string) bool { return !slices.Contains(routed, host) })
}

// oldest returns the oldest Darkroom that claims a host, as a reader shows it.
func (w *town) oldest(in store, host string) types.NamespacedName {
	var first *v1alpha1.Darkroom
	for _, key := range keysOfTests {
		darkroom := in.darkroom(key)
		if darkroom != nil && slices.Contains(townCache.Hosts(darkroom), host) &&
			(first == nil || Precedes(darkroom, first)) {
			first = darkroom
		}
	}
	if first == nil {
		return types.NamespacedName{}
	}
	return client.ObjectKeyFromObject(first)
}

// check fails if the operator has routed a host to two Darkrooms.
func (w *town) check(*rapid.T) {
	for _, host := range hostsOfTests {
		var having []types.NamespacedName
		for _, key := range keysOfTests {
			if slices.Contains(w.carried(key), host) {
				having = append(having, key)
			}
		}
		if len(having) > 1 {
			w.t.Fatalf("%s is routed to %v", host, having)
		}
	}
}

// comeToRest lets the operator work until nothing is due.
func (w *town) comeToRest(t *rapid.T) {
	w.syncRoutes(t) // watches tell of routes that come and go
	for _, key := range keysOfTests {
		if w.isLeaving(key) {
			delete(w.live, idOf(routeOf(key), key))
		}
		if route := w.live[idOf(routeOf(key), key)]; route != nil && len(route.GetFinalizers()) > 0 {
			released := route.DeepCopyObject().(client.Object)
			released.SetFinalizers(nil)
			w.put(released)
		}
	}
	repeated := false
	for range 60 {
		w.syncAll(t)
		w.collect(t)
		w.syncAll(t)
		if len(w.due) == 0 && repeated {
			return
		}
		if len(w.due) == 0 {
			repeated = true
			for _, key := range keysOfTests {
				if w.later[key] {
					w.wake(key)
				}
			}
			continue
		}
		for _, key := range w.where(t, func(key types.NamespacedName) bool { return w.due[key] }) {
			w.reconcile(key, "done", func() {})
			w.check(t)
		}
	}
	t.Fatalf("%v never come to rest", slices.Collect(maps.Keys(w.due)))
}

// everyHostHasItsOwner fails unless every host is routed to its oldest claimant alone, but for those of paused
// Darkrooms.
func (w *town) everyHostHasItsOwner(t *rapid.T) {
	for _, host := range hostsOfTests {
		owner, blocked := w.oldest(w.live, host), false
		for _, key := range keysOfTests {
			darkroom := w.live.darkroom(key)
			paused := darkroom != nil && v1alpha1.IsPaused(darkroom)
			blocked = blocked || paused && slices.Contains(w.routed(key), host) && (w.ledger.held[host] == key ||
				slices.Contains(append(w.carried(key), darkroom.Status.Domains...), host))
			if key != owner && !paused && slices.Contains(w.routed(key), host) {
				t.Fatalf("%s is routed to %s at rest, and belongs to %s", host, key, owner)
			}
		}
		if darkroom := w.live.darkroom(owner); darkroom == nil || v1alpha1.IsPaused(darkroom) || blocked {
			continue
		}
		if !slices.Contains(w.routed(owner), host) {
			t.Fatalf("%s belongs to %s and is not routed there at rest", host, owner)
		}
	}
}

// The operator never routes a host to two Darkrooms, and takes none from its oldest claimant, however far its
// caches lag behind, whatever fails, and whatever users write into routes. Once it rests, every host is where
// it belongs.
func TestAHostIsNeverInTwoPlacesAndEndsWhereItBelongs(t *testing.T) {
	history := func(t *rapid.T) {
		w := newTown(t)
		t.Repeat(map[string]func(*rapid.T){
			"create": w.create, "edit": w.edit, "delete": w.delete, "forge": w.forge, "strip": w.strip, "balance": w.balance,
			"drop": w.drop, "end": w.end, "collect": func(t *rapid.T) { w.syncRoutes(t); w.collect(t) },
			"restart": w.restart, "sync": w.syncReconciled, "sync Darkrooms": w.syncDarkrooms, "sync routes": w.syncRoutes,
			"work": w.work, "work more": w.work, "work on": w.work,
			"": w.check,
		})
		w.comeToRest(t)
		w.everyHostHasItsOwner(t)
	}
	rounds := 30 // of a hundred histories
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		rapid.Check(t, history)
	}
}

// newPair returns a town in which the younger of two Darkrooms claims a host.
func newPair(t *testing.T) (w *town, older, younger types.NamespacedName) {
	t.Helper()
	w, older = newPairWith(t, keysOfTests[1])
	return w, older, keysOfTests[1]
}

func newPairWith(t *testing.T, younger types.NamespacedName) (w *town, older types.NamespacedName) {
	t.Helper()
	w, older = newTown(t), keysOfTests[0]
	for i, key := range []types.NamespacedName{older, younger} {
		w.put(&v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			UID: types.UID(key.Name), CreationTimestamp: at(i),
		}})
	}
	w.claim(younger, hostsOfTests[0])
	w.start()
	return w, older
}

func (w *town) claim(key types.NamespacedName, hosts ...string) {
	darkroom := w.live.darkroom(key)
	darkroom.Spec.SubDomains = hosts
	w.put(darkroom)
	w.syncReconciled(nil)
	w.syncDarkrooms(nil)
}

// mustEndAt fails unless a Darkroom that was refused the host gets it now.
func (w *town) mustEndAt(key types.NamespacedName) {
	w.t.Helper()
	w.check(nil)
	w.syncRoutes(nil)
	w.reconcile(key, "done", func() {})
	if !slices.Equal(w.routed(key), hostsOfTests[:1]) {
		w.t.Errorf("%s has %q at last", key, w.routed(key))
	}
}

// An operator that is killed between the writes of a route and of the status leaves no trace of the host. The
// next one asks the Darkroom first, though an older one wants the host now.
func TestAHostThatAnEarlierProcessHasRoutedIsNotGivenAway(t *testing.T) {
	for _, younger := range []types.NamespacedName{keysOfTests[1], key("b", viaGateway)} {
		w, older := newPairWith(t, younger)
		w.reconcile(younger, killed, func() {})
		w.claim(older, hostsOfTests[0])
		w.start()
		w.reconcile(older, "done", func() {})
		w.check(nil)
		if len(w.routed(older)) > 0 {
			t.Errorf("%s has the host, which is routed to %s", older, younger)
		}
		w.reconcile(younger, "done", func() {})
		w.mustEndAt(older)
	}
}

// A Darkroom that could not give its host up still has it, also where no cache shows it.
func TestAHostWaitsForAWriteThatFailed(t *testing.T) {
	w, older, younger := newPair(t)
	w.reconcile(younger, "done", func() {})
	w.claim(younger)
	w.claim(older, hostsOfTests[0])
	w.reconcile(younger, "not done", func() {})
	w.reconcile(older, "done", func() {})
	w.check(nil)
	w.reconcile(younger, "done", func() {})
	w.mustEndAt(older)
}

// newPairWithAPause returns a town in which the younger of two Darkrooms has a host and is paused, and the
// older claims it.
func newPairWithAPause(t *testing.T) (w *town, older, younger types.NamespacedName) {
	t.Helper()
	w, older, younger = newPair(t)
	w.reconcile(younger, "done", func() {})
	paused := w.live.darkroom(younger)
	paused.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	w.put(paused)
	w.claim(older, hostsOfTests[0])
	return w, older, younger
}

// A paused Darkroom has its host until its route is gone.
func TestAHostWaitsForTheRouteOfAPausedDarkroom(t *testing.T) {
	w, older, younger := newPairWithAPause(t)
	w.reconcile(younger, "done", func() {})
	w.reconcile(older, "done", func() {})
	w.check(nil)
	refusals, err := w.ledger.Refusals(t.Context(), w.live.darkroom(older))
	w.must(err)
	want := []Refusal{{Host: hostsOfTests[0], Owner: younger, Leaving: true, Paused: true}}
	if !slices.Equal(refusals, want) {
		t.Errorf("the refusals are %+v, want %+v", refusals, want)
	}
	delete(w.live, idOf(routeOf(younger), younger))
	w.reconcile(younger, "done", func() {})
	w.mustEndAt(older)
}

// The caches do not show a route whose label a user has removed, so no event tells that it is gone: it is asked for, by
// its Darkroom, or in another process by the one that waits.
func TestAHiddenRouteOfAPausedDarkroomIsAskedFor(t *testing.T) {
	for name, restart := range map[string]bool{"in this process": false, "in the next one": true} {
		t.Run(name, func(t *testing.T) {
			w, older, younger := newPairWithAPause(t)
			route := w.live[idOf(routeOf(younger), younger)].DeepCopyObject().(client.Object)
			route.SetLabels(nil)
			w.put(route)
			if restart {
				w.start()
			}
			both := func() {
				w.syncAll(nil)
				w.reconcile(younger, "done", func() {})
				w.reconcile(older, "done", func() {})
				w.check(nil)
			}
			both()
			if len(w.routed(older)) > 0 || !w.later[older] && !w.later[younger] {
				t.Fatalf("%s has %q, and is asked for again: %v", older, w.routed(older), w.later)
			}
			delete(w.live, idOf(route, younger))
			both()
			if !slices.Equal(w.routed(older), hostsOfTests[:1]) || w.later[older] || w.later[younger] {
				t.Errorf("%s has %q at last, and is asked for again: %v", older, w.routed(older), w.later)
			}
		})
	}
}

// A shard has the Darkrooms of others in the cache of all Darkrooms alone.
func TestARefusalNamesThePauseOfADarkroomOfAnotherShard(t *testing.T) {
	w, older, younger := newPairWithAPause(t)
	own := maps.Clone(w.routes)
	maps.DeleteFunc(own, func(id string, _ client.Object) bool { return strings.HasPrefix(id, "*v1alpha1.Darkroom ") })
	w.ledger.Reader = own
	refusals, err := w.ledger.Refusals(t.Context(), w.live.darkroom(older))
	if err != nil || len(refusals) != 1 ||
		refusals[0] != (Refusal{Host: hostsOfTests[0], Owner: younger, Leaving: true, Paused: true}) {
		t.Errorf("the refusals are %+v, %v", refusals, err)
	}
}

// Who waits for a host is told when its holder is paused or resumed, also if the holder does not claim it any more. In a
// shard, the holder is told too.
func TestWhoWaitsForAHostIsARivalOfItsHolder(t *testing.T) {
	w, older, younger := newPair(t)
	w.reconcile(younger, "done", func() {})
	w.claim(younger, hostsOfTests[1])
	w.claim(older, hostsOfTests[0])
	for sharded, want := range map[bool][]types.NamespacedName{false: {older}, true: {older, younger}} {
		w.ledger.Sharded = sharded
		rivals, err := w.ledger.Rivals(t.Context(), w.live.darkroom(younger))
		if err != nil || !slices.Equal(rivals, want) {
			t.Errorf("the rivals of the holder are %v, %v, want %v", rivals, err, want)
		}
	}
}
