//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// migrating is the number of Darkrooms that move to the Gateway at one time.
const migrating = 50

// Where the clients of a host send their requests.
const (
	toIngress int32 = iota
	toBoth
	toGateway
)

// migration is a number of Darkrooms whose clients move from the Ingress to the Gateway.
type migration struct {
	darkrooms []*v1alpha1.Darkroom
	hosts     []string
	// clients is where the clients of each Darkroom send their requests.
	clients []atomic.Int32
	turn    atomic.Int64
}

// next returns where the next request goes. The hosts take turns.
func (m *migration) next() (url, host string) {
	turn := int(m.turn.Add(1))
	i := turn % len(m.hosts)
	clients := m.clients[i].Load()
	if clients == toGateway || clients == toBoth && turn/len(m.hosts)%2 == 0 {
		return gatewayURL, m.hosts[i]
	}
	return ingressURL, m.hosts[i]
}

// each calls a function for all Darkrooms at once, and fails the test for each error.
func (m *migration) each(t *testing.T, do func(ctx context.Context, i int, darkroom *v1alpha1.Darkroom) error) {
	t.Helper()
	errs := make([]error, len(m.darkrooms))
	var done sync.WaitGroup
	for i, darkroom := range m.darkrooms {
		done.Go(func() { errs[i] = do(t.Context(), i, darkroom) })
	}
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// change changes all Darkrooms.
func (m *migration) change(t *testing.T, mutate func(*v1alpha1.DarkroomSpec)) {
	t.Helper()
	m.each(t, func(ctx context.Context, _ int, darkroom *v1alpha1.Darkroom) error {
		before := darkroom.DeepCopy()
		mutate(&darkroom.Spec)
		return kube.Patch(ctx, darkroom, client.MergeFrom(before))
	})
}

// waitReady waits until all Darkrooms are ready in their present generation. It returns
// for how long it waited for the first and for the last.
func (m *migration) waitReady(t *testing.T) (first, last time.Duration) {
	t.Helper()
	started := time.Now()
	last = eventually(t, "all Darkrooms are ready", func(ctx context.Context) error {
		// One request for all: the machine is busy enough.
		list := &v1alpha1.DarkroomList{}
		if err := kube.List(ctx, list, client.InNamespace(m.darkrooms[0].Namespace)); err != nil {
			return err
		}
		waiting := slices.DeleteFunc(list.Items, func(darkroom v1alpha1.Darkroom) bool {
			condition := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
			return condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == darkroom.Generation
		})
		if first == 0 && len(waiting) < len(m.darkrooms) {
			first = time.Since(started)
		}
		if len(waiting) > 0 {
			return fmt.Errorf("%d are not, among them %s: %s", len(waiting), waiting[0].Name, waiting[0].Status.Message)
		}
		return nil
	})
	return first, last
}

// ingresses returns the UIDs of the Ingresses by the names of their Darkrooms.
func (m *migration) ingresses(t *testing.T) map[string]types.UID {
	t.Helper()
	list := &networkingv1.IngressList{}
	if err := kube.List(t.Context(), list, client.InNamespace(m.darkrooms[0].Namespace)); err != nil {
		t.Fatal(err)
	}
	found := map[string]types.UID{}
	for _, ingress := range list.Items {
		found[ingress.Name] = ingress.UID
	}
	return found
}

// Not parallel: a machine that is busy elsewhere would be measured.
//
// The steps are those of docs/first-darkroom.md.
func TestNoRequestFailsWhileManyDarkroomsMoveFromIngressToGateway(t *testing.T) {
	requireGateways(t)
	namespace := newNamespace(t)
	m := &migration{clients: make([]atomic.Int32, migrating)}
	for i := range migrating {
		darkroom := newDarkroom(namespace, fmt.Sprintf("moving-%02d", i)).Replicas(1).Obj()
		create(t, darkroom)
		m.darkrooms, m.hosts = append(m.darkrooms, darkroom), append(m.hosts, hostOf(darkroom))
	}
	_, last := m.waitReady(t)
	t.Logf("%d Darkrooms are ready after %.1fs", migrating, last.Seconds())
	m.each(t, func(ctx context.Context, i int, darkroom *v1alpha1.Darkroom) error {
		return poll(ctx, darkroom.Name+" serves", func(ctx context.Context) error { return serves(ctx, m.hosts[i], 90) })
	})
	before := m.ingresses(t)

	load := startLoadOf(m.next)
	defer load.end(t)
	load.during(t, "HTTPRoutes are added", func() {
		m.change(t, func(spec *v1alpha1.DarkroomSpec) {
			spec.Ingress = &v1alpha1.Ingress{}
			routedBy("public")(spec)
		})
		first, last := m.waitReady(t)
		started := time.Now()
		m.each(t, func(ctx context.Context, i int, darkroom *v1alpha1.Darkroom) error {
			defer m.clients[i].Store(toBoth)
			return poll(ctx, darkroom.Name+" serves", func(ctx context.Context) error {
				return servesThrough(ctx, gatewayURL, m.hosts[i], 0)
			})
		})
		t.Logf("accepted after %.1fs to %.1fs; the Gateway serves all of them %.1fs later",
			first.Seconds(), last.Seconds(), time.Since(started).Seconds())
	})
	load.mustNotHaveFailed(t)
	if after := m.ingresses(t); len(after) != migrating || !maps.Equal(before, after) {
		t.Errorf("the Ingresses were %v and are %v", before, after)
	}
	load.during(t, "both serve", func() { waitRequests(t, load, 4*migrating) })
	load.during(t, "clients move", func() {
		for i := range m.clients {
			m.clients[i].Store(toGateway)
			waitRequests(t, load, 2)
		}
	})
	load.during(t, "Ingresses are removed", func() {
		m.change(t, func(spec *v1alpha1.DarkroomSpec) { spec.Ingress = nil })
		m.waitReady(t)
		eventually(t, "the Ingresses are gone", func(context.Context) error {
			if left := m.ingresses(t); len(left) > 0 {
				return fmt.Errorf("%d are left", len(left))
			}
			return nil
		})
		waitRequests(t, load, 2*migrating)
	})
	waitStatus(t, m.hosts[0], http.StatusNotFound)
}
