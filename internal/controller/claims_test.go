package controller_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

// hostWatch watches the Ingresses of some namespaces in the order of their changes, and records whenever two of them
// have the same host.
type hostWatch struct {
	events watch.Interface
	ended  chan struct{}

	mu      sync.Mutex
	hosts   map[types.NamespacedName][]string
	doubles []string
}

func watchHosts(t *testing.T, namespaces ...string) *hostWatch {
	t.Helper()
	events, err := kube.Watch(t.Context(), &networkingv1.IngressList{})
	if err != nil {
		t.Fatal(err)
	}
	w := &hostWatch{events: events, ended: make(chan struct{}), hosts: map[types.NamespacedName][]string{}}
	go w.follow(namespaces)
	t.Cleanup(func() {
		events.Stop()
		<-w.ended
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, double := range w.doubles {
			t.Error(double)
		}
	})
	return w
}

func (w *hostWatch) follow(namespaces []string) {
	defer close(w.ended)
	for event := range w.events.ResultChan() {
		ingress, ok := event.Object.(*networkingv1.Ingress)
		if !ok || !slices.Contains(namespaces, ingress.Namespace) {
			continue
		}
		w.mu.Lock()
		key := client.ObjectKeyFromObject(ingress)
		delete(w.hosts, key)
		if event.Type != watch.Deleted {
			for _, rule := range ingress.Spec.Rules {
				for other, hosts := range w.hosts {
					if slices.Contains(hosts, rule.Host) {
						w.doubles = append(w.doubles, fmt.Sprintf("%s is in the Ingresses %s and %s", rule.Host, other, key))
					}
				}
				w.hosts[key] = append(w.hosts[key], rule.Host)
			}
		}
		w.mu.Unlock()
	}
}

// carrierOf returns the Darkroom to which a host is routed.
func (w *hostWatch) carrierOf(host string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, hosts := range w.hosts {
		if slices.Contains(hosts, host) {
			return key.String()
		}
	}
	return ""
}

// eventuallyRouted waits until hosts are routed to Darkrooms; "" means to none.
func (w *hostWatch) eventuallyRouted(t *testing.T, want map[string]string) {
	t.Helper()
	eventually(t, "hosts are routed", func(context.Context) error {
		var errs []error
		for host, carrier := range want {
			if got := w.carrierOf(host); got != carrier {
				errs = append(errs, fmt.Errorf("%s is routed to %q, want %q", host, got, carrier))
			}
		}
		return errors.Join(errs...)
	})
}

// twoTenants creates two namespaces and returns them in alphabetical order.
func twoTenants(t *testing.T) (first, second string) {
	t.Helper()
	namespaces := []string{newNamespace(t), newNamespace(t)}
	slices.Sort(namespaces)
	return namespaces[0], namespaces[1]
}

func with(darkroom *v1alpha1.Darkroom, subDomains ...string) *v1alpha1.Darkroom {
	darkroom.Spec.SubDomains = subDomains
	return darkroom
}

func hostIn(subDomain string) string { return subDomain + "." + baseDomain }

// holds returns a check that the Lease of a host names a Darkroom as the holder; "" means that the Lease does not
// exist.
func holds(namespace, host, holder string) func(context.Context) error {
	return func(ctx context.Context) error {
		lease, err := get(ctx, &coordinationv1.Lease{}, namespace, host)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if got := ptr.Deref(lease.Spec.HolderIdentity, ""); got != holder {
			return fmt.Errorf("the Lease of %s names %q, want %q", host, got, holder)
		}
		return nil
	}
}

func TestAHostBelongsToTheFirstDarkroomThatClaimsIt(t *testing.T) {
	t.Parallel()
	first, second := twoTenants(t)
	startOperatorFor(t, []string{first, second})
	hosts := watchHosts(t, first, second)
	shared, own := "shared-"+first, "own-"+second

	// The older Darkroom adds the host of the younger one later. Its age does not matter.
	older := with(webFolder(second, "older"), "other-"+second)
	create(t, older)
	hosts.eventuallyRouted(t, map[string]string{hostIn("other-" + second): second + "/older"})
	younger := with(webFolder(first, "younger"), shared, own)
	create(t, younger)
	hosts.eventuallyRouted(t, map[string]string{hostIn(shared): first + "/younger", hostIn(own): first + "/younger"})
	change(t, older, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{"other-" + second, shared} })
	eventuallyStatus(t, older, "the conflict", hasDomains(hostIn("other-"+second)),
		has(v1alpha1.ConditionDomainsReady, metav1.ConditionFalse, v1alpha1.ReasonDomainConflict),
		explains(v1alpha1.ConditionDomainsReady, hostIn(shared)+" is already claimed by a Darkroom in another namespace"))
	message := v1alpha1.FindCondition(mustGet(t, &v1alpha1.Darkroom{}, second, "older").Status.Conditions,
		v1alpha1.ConditionDomainsReady).Message
	if strings.Contains(message, first+"/") || strings.Contains(message, "younger") {
		t.Errorf("the message names another tenant: %q", message)
	}
	eventuallyEvent(t, second, "DomainConflict")
	hosts.eventuallyRouted(t, map[string]string{hostIn(shared): first + "/younger"})
	eventually(t, "the Lease", holds(first, hostIn(shared), first+"/younger"))

	// A Darkroom in the holder's namespace learns the holder's name.
	neighbor := with(webFolder(first, "neighbor"), shared)
	create(t, neighbor)
	eventuallyStatus(t, neighbor, "the holder's name", explains(v1alpha1.ConditionDomainsReady, first+"/younger"))
	if _, err := get(t.Context(), &networkingv1.Ingress{}, first, "neighbor"); !apierrors.IsNotFound(err) {
		t.Errorf("all hosts are refused, want no Ingress (%v)", err)
	}
	remove(t, neighbor)
	eventually(t, "it is gone", gone(neighbor))

	t.Run("a Darkroom that drops it hands it to the next", func(t *testing.T) {
		change(t, younger, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{own} })
		hosts.eventuallyRouted(t, map[string]string{hostIn(shared): second + "/older"})
		eventuallyStatus(t, older, "no conflict",
			has(v1alpha1.ConditionDomainsReady, metav1.ConditionUnknown, v1alpha1.ReasonAwaitingAddress))
	})
	t.Run("a Darkroom that wants it again waits", func(t *testing.T) {
		change(t, younger, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{own, shared} })
		eventuallyRefused(t, younger)
		hosts.eventuallyRouted(t, map[string]string{hostIn(shared): second + "/older", hostIn(own): first + "/younger"})
	})
	t.Run("a Darkroom that is deleted hands it to the next", func(t *testing.T) {
		remove(t, older)
		hosts.eventuallyRouted(t, map[string]string{hostIn(shared): first + "/younger"})
		eventually(t, "the Lease of its other host is gone", holds(first, hostIn("other-"+second), ""))
	})
	t.Run("a paused Darkroom keeps it while its Ingress has it", func(t *testing.T) {
		change(t, younger, func(d *v1alpha1.Darkroom) { d.Annotations[v1alpha1.AnnotationPaused] = "true" })
		eventuallyStatus(t, younger, "paused", isPaused())
		change(t, younger, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{own} })
		waiting := with(webFolder(second, "waiting"), shared)
		create(t, waiting)
		eventuallyRefused(t, waiting)
		remove(t, mustGet(t, &networkingv1.Ingress{}, first, "younger"))
		hosts.eventuallyRouted(t, map[string]string{hostIn(shared): second + "/waiting"})
	})
}

// tenantOf returns the client of a user with the permissions of an editor of Darkrooms in one namespace.
func tenantOf(t *testing.T, namespace string) client.Client {
	t.Helper()
	editor, err := access.ReadClusterRole(filepath.Join("..", "..", "config", "rbac", "darkroom_editor_role.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	user := "editor-of-" + namespace
	grant(t, namespace, editor.Rules, rbacv1.UserKind, user)
	config := rest.CopyConfig(cluster)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	tenant, err := client.New(config, client.Options{Scheme: controller.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return tenant
}

// TestATenantCannotTakeTheHostOfAnotherOne makes the changes as two users who may edit Darkrooms in their own namespace
// only. The one with the older Darkroom adds the host of the younger one.
func TestATenantCannotTakeTheHostOfAnotherOne(t *testing.T) {
	t.Parallel()
	a, b := twoTenants(t)
	startOperatorFor(t, []string{a, b})
	hosts, asA, asB := watchHosts(t, a, b), tenantOf(t, a), tenantOf(t, b)
	older, younger := with(webFolder(a, "old"), "old-"+a), with(webFolder(b, "new"), "new-"+a)
	for _, created := range []struct {
		by       client.Client
		darkroom *v1alpha1.Darkroom
	}{{asA, older}, {asB, younger}} {
		eventually(t, "the tenant has permissions", func(ctx context.Context) error {
			return created.by.Create(ctx, created.darkroom)
		})
		host := hostIn(created.darkroom.Spec.SubDomains[0])
		hosts.eventuallyRouted(t, map[string]string{host: client.ObjectKeyFromObject(created.darkroom).String()})
	}

	patch := fmt.Sprintf(`{"spec":{"subDomains":[%q,%q]}}`, "old-"+a, "new-"+a)
	if err := asA.Patch(t.Context(), older, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	eventuallyStatus(t, older, "the conflict", hasDomains(hostIn("old-"+a)),
		has(v1alpha1.ConditionDomainsReady, metav1.ConditionFalse, v1alpha1.ReasonDomainConflict),
		explains(v1alpha1.ConditionDomainsReady, hostIn("new-"+a)+" is already claimed by a Darkroom in another namespace"))
	hosts.eventuallyRouted(t, map[string]string{hostIn("old-" + a): a + "/old", hostIn("new-" + a): b + "/new"})
	eventually(t, "the Lease", holds(a, hostIn("new-"+a), b+"/new"))
	eventuallyStatus(t, younger, "its host", hasDomains(hostIn("new-"+a)))

	// Lost Leases are restored from the status, so tenants must not write it.
	status := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"domains":[%q]}}`, hostIn("new-"+a)))
	if err := asA.Status().Patch(t.Context(), older, status); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant writes the status of its Darkroom: got %v, want Forbidden", err)
	}
	if err := asA.Delete(t.Context(), younger); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant deletes the Darkroom of another one: got %v, want Forbidden", err)
	}
}

// A Lease is lost if its namespace or the Lease itself is deleted.
func TestALostLeaseIsRestoredForItsHolder(t *testing.T) {
	t.Parallel()
	first, second := twoTenants(t)
	operator := startOperatorFor(t, []string{first, second})
	hosts := watchHosts(t, first, second)
	host := hostIn("shared-" + first)
	holder, waiting := with(webFolder(first, "holder"), "shared-"+first), with(webFolder(second, "waiting"), "shared-"+first)
	create(t, holder)
	hosts.eventuallyRouted(t, map[string]string{host: first + "/holder"})
	eventuallyStatus(t, holder, "its host", hasDomains(host))
	create(t, waiting)
	eventuallyRefused(t, waiting)
	lease := mustGet(t, &coordinationv1.Lease{}, first, host)

	remove(t, lease)
	eventually(t, "the Lease", holds(first, host, first+"/holder"))
	// Paused Darkrooms also keep their Leases, and so do Darkrooms whose operator is not running.
	change(t, holder, func(d *v1alpha1.Darkroom) { d.Annotations[v1alpha1.AnnotationPaused] = "true" })
	eventuallyStatus(t, holder, "paused", isPaused())
	operator.kill()
	remove(t, mustGet(t, &coordinationv1.Lease{}, first, host))
	operator = startOperatorFor(t, []string{first, second})
	eventually(t, "the Lease", holds(first, host, first+"/holder"))
	eventually(t, "rest", quiet(operator))
	hosts.eventuallyRouted(t, map[string]string{host: first + "/holder"})
}

func TestARouteOfAGatewayIsAClaimToo(t *testing.T) {
	t.Parallel()
	first, second := twoTenants(t)
	startOperatorFor(t, []string{first, second})
	shared := "shared-" + first
	older := with(webFolder(first, "older"), shared)
	older.Spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{{Name: "public"}}}
	create(t, older)
	eventuallyThere(t, &gatewayv1.HTTPRoute{}, first, "older")
	younger := with(webFolder(second, "younger"), shared)
	create(t, younger)
	eventuallyStatus(t, younger, "the conflict",
		has(v1alpha1.ConditionDomainsReady, metav1.ConditionFalse, v1alpha1.ReasonDomainConflict))
	remove(t, older)
	eventuallyThere(t, &networkingv1.Ingress{}, second, "younger")
}

// TestTwoTenantsRaceForHosts lets two namespaces claim, drop and delete hosts at random while operators are killed and
// started. Two Ingresses must never have the same host, and in the end each host must be routed to a Darkroom that
// wants it. With -short the test makes fewer steps.
func TestTwoTenantsRaceForHosts(t *testing.T) {
	t.Parallel()
	const perTenant = 3
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	random := rand.New(rand.NewPCG(20260101, 1))
	first, second := twoTenants(t)
	namespaces := []string{first, second}
	subDomains := []string{"a-" + first, "b-" + first, "c-" + first}
	hosts := watchHosts(t, namespaces...)
	operator := startOperatorFor(t, namespaces)
	some := func() []string {
		picked := slices.Clone(subDomains)
		random.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
		return picked[:1+random.IntN(len(picked))]
	}
	for range rounds {
		darkroom := webFolder(namespaces[random.IntN(2)], fmt.Sprintf("racer-%d", random.IntN(perTenant)))
		now, err := get(t.Context(), &v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name)
		switch {
		case apierrors.IsNotFound(err):
			create(t, with(darkroom, some()...))
		case err != nil:
			t.Fatal(err)
		case now.DeletionTimestamp != nil:
		case random.IntN(5) == 0:
			if err := client.IgnoreNotFound(kube.Delete(t.Context(), now)); err != nil {
				t.Fatal(err)
			}
		default:
			change(t, now, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = some() })
		}
		if random.IntN(10) == 0 {
			operator.kill()
			operator = startOperatorFor(t, namespaces)
		} else {
			// The random delay varies the time of the fault. The test does not wait for any condition here.
			time.Sleep(time.Duration(random.Int64N(int64(300 * time.Millisecond))))
		}
	}

	eventually(t, "each host is routed to a Darkroom that wants it", func(ctx context.Context) error {
		wanting := map[string][]string{}
		for _, namespace := range namespaces {
			list := &v1alpha1.DarkroomList{}
			if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			for _, darkroom := range list.Items {
				if darkroom.DeletionTimestamp != nil {
					return fmt.Errorf("%s is still being deleted", darkroom.Name)
				}
				for _, subDomain := range darkroom.Spec.SubDomains {
					wanting[subDomain] = append(wanting[subDomain], client.ObjectKeyFromObject(&darkroom).String())
				}
			}
		}
		for subDomain, want := range wanting {
			if got := hosts.carrierOf(hostIn(subDomain)); !slices.Contains(want, got) {
				return fmt.Errorf("%s is routed to %q, want one of %q", hostIn(subDomain), got, want)
			}
		}
		return nil
	})
}
