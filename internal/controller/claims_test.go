package controller_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// hostWatch follows every Ingress of some namespaces, in the order in which the API
// server changed them, and takes note of each moment at which two carry one host.
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
						w.doubles = append(w.doubles, fmt.Sprintf("%s is carried by the Ingresses %s and %s", rule.Host, other, key))
					}
				}
				w.hosts[key] = append(w.hosts[key], rule.Host)
			}
		}
		w.mu.Unlock()
	}
}

// carrierOf is the Darkroom at which a host is routed.
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
				errs = append(errs, fmt.Errorf("%s is routed to %q, not %q", host, got, carrier))
			}
		}
		return errors.Join(errs...)
	})
}

// twoTenants creates two namespaces, in alphabetical order.
func twoTenants(t *testing.T) (first, second string) {
	t.Helper()
	namespaces := []string{newNamespace(t), newNamespace(t)}
	slices.Sort(namespaces)
	return namespaces[0], namespaces[1]
}

// later waits until what is made now is younger than what was made before:
// creation times are whole seconds.
func later(t *testing.T, than *v1alpha1.Darkroom) {
	t.Helper()
	eventually(t, "the next second", func(context.Context) error {
		if !time.Now().After(than.CreationTimestamp.Add(time.Second)) {
			return errors.New("it is the same second")
		}
		return nil
	})
}

func with(darkroom *v1alpha1.Darkroom, subDomains ...string) *v1alpha1.Darkroom {
	darkroom.Spec.SubDomains = subDomains
	return darkroom
}

func hostIn(subDomain string) string { return subDomain + "." + baseDomain }

func TestAHostBelongsToTheOldestDarkroomThatClaimsIt(t *testing.T) {
	t.Parallel()
	first, second := twoTenants(t)
	startOperatorFor(t, []string{first, second})
	hosts := watchHosts(t, first, second)
	shared, own := "shared-"+first, "own-"+second

	// The older one is in the namespace that sorts last, so that age decides.
	older := with(webFolder(second, "older"), shared)
	create(t, older)
	later(t, older)
	younger := with(webFolder(first, "younger"), shared, own)
	create(t, younger)
	hosts.eventuallyRouted(t, map[string]string{hostIn(shared): second + "/older", hostIn(own): first + "/younger"})
	becomeReady(t, first, "younger")
	eventuallyStatus(t, younger, "the conflict", hasDomains(hostIn(own)), isIn(v1alpha1.PhaseDegraded),
		isNotReady(v1alpha1.ReasonDomainConflict),
		has(v1alpha1.ConditionDomainsReady, metav1.ConditionFalse, v1alpha1.ReasonDomainConflict),
		explains(v1alpha1.ConditionDomainsReady, hostIn(shared)))
	message := v1alpha1.FindCondition(mustGet(t, &v1alpha1.Darkroom{}, first, "younger").Status.Conditions,
		v1alpha1.ConditionDomainsReady).Message
	if strings.Contains(message, second) || strings.Contains(message, "older") {
		t.Errorf("the message tells of another tenant: %q", message)
	}
	eventuallyEvent(t, first, "DomainConflict")

	// One of the owner's own namespace is told who has it.
	neighbor := with(webFolder(second, "neighbor"), shared)
	create(t, neighbor)
	eventuallyStatus(t, neighbor, "the owner's name", explains(v1alpha1.ConditionDomainsReady, second+"/older"))
	if _, err := get(t.Context(), &networkingv1.Ingress{}, second, "neighbor"); !apierrors.IsNotFound(err) {
		t.Errorf("all its hosts are refused, and yet it has an Ingress (%v)", err)
	}

	t.Run("who lets go of it hands it to the next", func(t *testing.T) {
		change(t, older, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{"other-" + second} })
		hosts.eventuallyRouted(t, map[string]string{hostIn(shared): first + "/younger"})
		eventuallyStatus(t, younger, "no conflict",
			has(v1alpha1.ConditionDomainsReady, metav1.ConditionUnknown, v1alpha1.ReasonAwaitingAddress))
	})
	t.Run("who claims it again gets it back when the other has dropped it", func(t *testing.T) {
		change(t, older, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{shared} })
		hosts.eventuallyRouted(t, map[string]string{hostIn(shared): second + "/older", hostIn(own): first + "/younger"})
		eventuallyEvent(t, first, "DomainConflict")
	})
	t.Run("who is deleted hands it to the next", func(t *testing.T) {
		remove(t, older)
		hosts.eventuallyRouted(t, map[string]string{hostIn(shared): first + "/younger"})
	})
	t.Run("a paused one keeps it as long as it is routed", func(t *testing.T) {
		change(t, younger, func(d *v1alpha1.Darkroom) { d.Annotations[v1alpha1.AnnotationPaused] = "true" })
		eventuallyStatus(t, younger, "paused", isPaused())
		change(t, younger, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{own} })
		eventuallyStatus(t, neighbor, "waits", explains(v1alpha1.ConditionDomainsReady,
			hostIn(shared)+" is still in use by a Darkroom of another namespace, which is paused"),
			has(v1alpha1.ConditionDomainsReady, metav1.ConditionFalse, v1alpha1.ReasonDomainConflict))
		remove(t, mustGet(t, &networkingv1.Ingress{}, first, "younger"))
		hosts.eventuallyRouted(t, map[string]string{hostIn(shared): second + "/neighbor"})
		change(t, younger, func(d *v1alpha1.Darkroom) { delete(d.Annotations, v1alpha1.AnnotationPaused) })
		hosts.eventuallyRouted(t, map[string]string{hostIn(shared): second + "/neighbor", hostIn(own): first + "/younger"})
		eventuallyStatus(t, neighbor, "no conflict",
			has(v1alpha1.ConditionDomainsReady, metav1.ConditionUnknown, v1alpha1.ReasonAwaitingAddress))
	})
}

func TestARouteOfAGatewayIsAClaimToo(t *testing.T) {
	t.Parallel()
	first, second := twoTenants(t)
	startOperatorFor(t, []string{first, second})
	shared := "shared-" + first
	older := with(webFolder(first, "older"), shared)
	older.Spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{{Name: "public"}}}
	create(t, older)
	later(t, older)
	younger := with(webFolder(second, "younger"), shared)
	create(t, younger)
	eventuallyThere(t, &gatewayv1.HTTPRoute{}, first, "older")
	eventuallyStatus(t, younger, "the conflict",
		has(v1alpha1.ConditionDomainsReady, metav1.ConditionFalse, v1alpha1.ReasonDomainConflict))
	remove(t, older)
	eventuallyThere(t, &networkingv1.Ingress{}, second, "younger")
}

// TestTwoTenantsRaceForHosts has two namespaces claim, drop and delete at random
// while operators are killed and started. At no moment do two Ingresses carry one
// host, and in the end each host is where it belongs. With -short they do less.
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
			// The moment is the fault that is put in; nothing is waited for.
			time.Sleep(time.Duration(random.Int64N(int64(300 * time.Millisecond))))
		}
	}

	eventually(t, "each host is where it belongs", func(ctx context.Context) error {
		var all []v1alpha1.Darkroom
		for _, namespace := range namespaces {
			list := &v1alpha1.DarkroomList{}
			if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			all = append(all, list.Items...)
		}
		slices.SortFunc(all, func(a, b v1alpha1.Darkroom) int {
			if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
				return order
			}
			return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
		})
		carriers := map[string]string{}
		for _, darkroom := range slices.Backward(all) {
			if darkroom.DeletionTimestamp != nil {
				return fmt.Errorf("%s is still being deleted", darkroom.Name)
			}
			for _, subDomain := range darkroom.Spec.SubDomains {
				carriers[subDomain] = client.ObjectKeyFromObject(&darkroom).String()
			}
		}
		for subDomain, want := range carriers {
			if got := hosts.carrierOf(hostIn(subDomain)); got != want {
				return fmt.Errorf("%s is routed to %q, not %q", hostIn(subDomain), got, want)
			}
		}
		return nil
	})
}
