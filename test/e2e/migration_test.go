//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/helm3"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// migrating is the number of Darkrooms that move to the Gateway at the same time.
const migrating = 20

// migration moves the clients of several Darkrooms from the Ingress to the Gateway.
type migration struct {
	darkrooms []*v1alpha1.Darkroom
	turn      atomic.Int64
	// both is set while clients alternate between the Ingress and the Gateway.
	both atomic.Bool
	// moved is the number of Darkrooms, in order, whose clients use only the Gateway.
	moved atomic.Int64
}

// next returns the destination of the next request. The hosts take turns.
func (m *migration) next() (url, host string) {
	turn := m.turn.Add(1)
	i := turn % migrating
	if i < m.moved.Load() || m.both.Load() && turn/migrating%2 == 0 {
		return gatewayURL, hostOf(m.darkrooms[i])
	}
	return ingressURL, hostOf(m.darkrooms[i])
}

// change changes all Darkrooms, and waits until all are ready again.
func (m *migration) change(t *testing.T, mutate func(*v1alpha1.DarkroomSpec)) {
	t.Helper()
	for _, darkroom := range m.darkrooms {
		changed := darkroom.DeepCopy() // the load reads the other value
		change(t, changed, func(d *v1alpha1.Darkroom) { mutate(&d.Spec) })
	}
	for _, darkroom := range m.darkrooms {
		waitReady(t, darkroom.DeepCopy())
	}
}

// Not parallel, because the load of other tests would distort the measurement.
//
// The steps come from docs/first-darkroom.md.
func TestNoRequestFailsWhileManyDarkroomsMoveFromIngressToGateway(t *testing.T) {
	requireGateways(t)
	namespace := newNamespace(t)
	m := &migration{}
	for i := range migrating {
		darkroom := newDarkroom(namespace, fmt.Sprintf("moving-%02d", i)).Obj()
		create(t, darkroom)
		m.darkrooms = append(m.darkrooms, darkroom)
	}
	for _, darkroom := range m.darkrooms {
		waitReady(t, darkroom)
		waitServing(t, darkroom)
	}

	load := startLoadOf(m.next)
	defer load.end(t)
	load.during(t, "HTTPRoutes are added", func() {
		m.change(t, func(spec *v1alpha1.DarkroomSpec) {
			spec.Ingress = &v1alpha1.Ingress{}
			routedBy("public")(spec)
		})
		for _, darkroom := range m.darkrooms {
			waitServingThrough(t, gatewayURL, darkroom)
		}
	})
	m.both.Store(true)
	load.during(t, "both serve", func() { waitRequests(t, load, 4*migrating) })
	load.during(t, "clients move", func() {
		for range m.darkrooms {
			m.moved.Add(1)
			waitRequests(t, load, 2)
		}
	})
	load.during(t, "Ingresses are removed", func() {
		m.change(t, func(spec *v1alpha1.DarkroomSpec) { spec.Ingress = nil })
		_, err := program.Output(t.Context(), "kubectl", "wait", "--for=delete", "ingress", "--all", "--namespace", namespace,
			"--timeout", waitTimeout.String())
		must(t, err)
		waitRequests(t, load, 2*migrating)
	})
	waitStatus(t, hostOf(m.darkrooms[0]), http.StatusNotFound)
}

// Not parallel, because the load of other tests would distort the measurement.
//
// The steps come from docs/operations.md.
func TestNoRequestFailsWhileADarkroomReplacesAHelmRelease(t *testing.T) {
	namespace := newNamespace(t)
	moving := "moving." + namespace
	helm, err := helm3.Configuration(admin, namespace)
	must(t, err)
	chrt, err := charts.Darkroom()
	must(t, err)
	install := action.NewInstall(helm)
	install.ReleaseName, install.Namespace, install.Wait, install.Timeout = "photos", namespace, true, waitTimeout
	_, err = install.Run(chrt, map[string]any{
		"hosts":     []any{moving + "." + baseDomain},
		"source":    map[string]any{"type": "WebFolder", "baseUrl": theSources.webFolder().BaseURL},
		"resources": map[string]any{"requests": map[string]any{"cpu": "10m", "memory": "32Mi"}},
	})
	must(t, err)
	waitStatus(t, moving+"."+baseDomain, http.StatusOK)

	load := startLoad(moving + "." + baseDomain)
	defer load.end(t)
	darkroom := newDarkroom(namespace, "images").Obj()
	load.during(t, "a Darkroom is added", func() {
		create(t, darkroom)
		waitReady(t, darkroom)
		waitServing(t, darkroom)
	})
	load.during(t, "it gets the host", func() {
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = append(d.Spec.SubDomains, moving) })
		waitHosts(t, darkroom)
		waitReady(t, darkroom)
	})
	load.during(t, "both serve", func() { waitRequests(t, load, 20) })
	load.during(t, "the Ingress is deleted", func() {
		must(t, kube.Delete(t.Context(),
			&networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos-darkroom"}}))
		time.Sleep(5 * time.Second) // until its pods receive no requests
	})
	load.during(t, "the release is uninstalled", func() {
		_, err := action.NewUninstall(helm).Run("photos")
		must(t, err)
		waitRequests(t, load, 20)
	})
}
