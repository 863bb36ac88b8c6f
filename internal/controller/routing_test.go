package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
)

// accept acts as a Gateway controller. It accepts the HTTPRoute of a Darkroom for each Gateway that the route names,
// once the route has a generation.
func accept(t *testing.T, namespace, name string, generation int64) {
	t.Helper()
	eventually(t, "an HTTPRoute", func(ctx context.Context) error {
		route, err := get(ctx, &gatewayv1.HTTPRoute{}, namespace, name)
		if err != nil {
			return err
		}
		if route.Generation < generation {
			return fmt.Errorf("the HTTPRoute has generation %d, want %d", route.Generation, generation)
		}
		route.Status.Parents = nil
		for _, ref := range route.Spec.ParentRefs {
			status := gatewayv1.RouteParentStatus{ParentRef: ref, ControllerName: "example.com/gateways"}
			for _, conditionType := range []gatewayv1.RouteConditionType{
				gatewayv1.RouteConditionAccepted,
				gatewayv1.RouteConditionResolvedRefs,
			} {
				status.Conditions = append(status.Conditions, metav1.Condition{
					Type: string(conditionType), Status: metav1.ConditionTrue, Reason: string(conditionType),
					ObservedGeneration: route.Generation, LastTransitionTime: metav1.Now(),
				})
			}
			route.Status.Parents = append(route.Status.Parents, status)
		}
		return kube.Status().Update(ctx, route)
	})
}

// served expects that a Darkroom is ready and has a URL and a host.
func served(scheme, host string) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		if status.URL != scheme+"://"+host {
			return fmt.Errorf("got URL %q, want %s://%s", status.URL, scheme, host)
		}
		return errors.Join(hasDomains(host)(status), isReady()(status))
	}
}

// awaiting expects that a Darkroom waits for its Gateway.
func awaiting(status v1alpha1.DarkroomStatus) error {
	return errors.Join(
		says("Gateway ")(status),
		has(v1alpha1.ConditionDomainsReady, metav1.ConditionUnknown, v1alpha1.ReasonAwaitingGateway)(status),
		has(v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonAwaitingGateway)(status),
		has(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonAwaitingGateway)(status))
}

func TestGatewayTakesThePlaceOfTheIngressWithoutAGap(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t,
		func(d *v1alpha1.Darkroom) { d.Spec.Ingress = &v1alpha1.Ingress{TLSSecretName: "cert"} })
	namespace, host := darkroom.Namespace, "photos."+baseDomain
	becomeReady(t, namespace, "photos")
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cert"}})
	eventuallyStatus(t, darkroom, "ready by an Ingress", served("https", host))

	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.Gateway = &v1alpha1.Gateway{
			ParentRefs:  []v1alpha1.ParentRef{{Name: "public"}},
			Annotations: map[string]string{"external-dns.alpha.kubernetes.io/ttl": "60"},
			Timeouts:    &v1alpha1.GatewayTimeouts{Request: "30s"},
		}
	})
	eventuallyStatus(t, darkroom, "both, and the Gateway has not accepted", hasDomains(host), awaiting)
	accept(t, namespace, "photos", 1)
	eventuallyStatus(t, darkroom, "ready by both", served("https", host))
	mustGet(t, &networkingv1.Ingress{}, namespace, "photos")
	route := mustGet(t, &gatewayv1.HTTPRoute{}, namespace, "photos")
	if route.Annotations["external-dns.alpha.kubernetes.io/ttl"] != "60" {
		t.Errorf("got annotations %v of the HTTPRoute", route.Annotations)
	}
	if limits := route.Spec.Rules[len(route.Spec.Rules)-1].Timeouts; limits == nil || *limits.Request != "30s" {
		t.Errorf("got timeouts %+v of the HTTPRoute", limits)
	}

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Ingress = nil })
	eventually(t, "no Ingress", absent(&networkingv1.Ingress{}, namespace, "photos"))
	eventuallyStatus(t, darkroom, "ready by an HTTPRoute", served("http", host))
}

// The dropped host may already belong to another Darkroom.
func TestAHostThatIsDroppedWithTheIngressCutsOffNoOther(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{"kept", "dropped"} })
	namespace := darkroom.Namespace
	create(t, with(webFolder(namespace, "successor"), "dropped"))
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.SubDomains = []string{"kept"}
		d.Spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{{Name: "public"}}}
	})
	eventually(t, "the host of the successor", isRouted(namespace, "successor", hostIn("dropped")))
	if err := isRouted(namespace, "photos", hostIn("kept"))(t.Context()); err != nil {
		t.Errorf("before the Gateway accepts the HTTPRoute: %v", err)
	}
	accept(t, namespace, "photos", 1)
	eventually(t, "no Ingress", absent(&networkingv1.Ingress{}, namespace, "photos"))
	if failed := events(t, namespace, release.EventFailed); len(failed) > 0 {
		t.Errorf("a failure is reported: %s", failed[0].Note)
	}
}

// Another client replaces the Ingress just before the operator removes a host from it.
func TestAnIngressThatReplacedOursKeepsItsHosts(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	var replace sync.Once
	startOperator(t, namespace, beforeEach(func(request *http.Request) error {
		if strings.HasSuffix(request.URL.Path, "/ingresses/photos") &&
			request.Header.Get("Content-Type") == string(types.MergePatchType) {
			replace.Do(func() {
				ours := mustGet(t, &networkingv1.Ingress{}, namespace, "photos")
				remove(t, ours)
				create(t, &networkingv1.Ingress{
					ObjectMeta: metav1.ObjectMeta{
						Namespace: namespace, Name: "photos", Labels: ours.Labels,
						Annotations: ours.Annotations,
					},
					Spec: ours.Spec,
				})
			})
		}
		return nil
	}))
	darkroom := with(webFolder(namespace, "photos"), "kept", "dropped")
	install(t, darkroom)
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.SubDomains = []string{"kept"}
		d.Spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{{Name: "public"}}}
	})
	theirs := eventuallyIs(t, "the Ingress of another client", &networkingv1.Ingress{}, namespace, "photos",
		func(i *networkingv1.Ingress) bool {
			return len(i.OwnerReferences) == 0
		})
	accept(t, namespace, "photos", 1)
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "ready by the HTTPRoute", served("http", hostIn("kept")))
	if now := mustGet(t, &networkingv1.Ingress{}, namespace, "photos"); now.ResourceVersion != theirs.ResourceVersion {
		t.Errorf("the Ingress of another client was changed: %+v", now)
	}
}

// With another base domain, the same sub-domain is another host.
func TestInstallationsWithOtherBaseDomainsDoNotShareHosts(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	for _, name := range []string{"first", "second"} {
		startOperator(t, namespace, as(name, name+"."+namespace+".example.com"))
		darkroom := with(webFolder(namespace, name), "photos")
		darkroom.Annotations = map[string]string{v1alpha1.AnnotationInstallation: name}
		create(t, darkroom)
		eventually(t, "the host", isRouted(namespace, name, "photos."+name+"."+namespace+".example.com"))
	}
}

func isRouted(namespace, name, host string) func(context.Context) error {
	return func(ctx context.Context) error {
		ingress, err := get(ctx, &networkingv1.Ingress{}, namespace, name)
		if err == nil && ingress.Spec.Rules[0].Host != host {
			err = fmt.Errorf("the Ingress routes %s", ingress.Spec.Rules[0].Host)
		}
		return err
	}
}

// Anyone with permission to create an Ingress can set its labels and owner references.
func TestAnIngressThatBelongsToNoDarkroomKeepsNoHost(t *testing.T) {
	t.Parallel()
	for name, owner := range map[string]*metav1.OwnerReference{
		"label alone": nil,
		"Darkroom that does not exist": {
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.Kind, Name: "other",
			UID: "0d5e", Controller: ptr.To(true),
		},
		"Darkroom of the same name, gone": {
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.Kind, Name: "neighbor",
			UID: "0d5e", Controller: ptr.To(true),
		},
		"something else": {APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "0d5e", Controller: ptr.To(true)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			create(t, with(webFolder(namespace, "neighbor"), "neighbor-"+namespace))
			host := hostIn("shared-" + namespace)
			forged := &networkingv1.Ingress{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: namespace, Name: "forged",
					Labels: map[string]string{v1alpha1.LabelDarkroom: "other"},
				},
				Spec: networkingv1.IngressSpec{
					IngressClassName: ptr.To("served-by-nobody"),
					Rules:            []networkingv1.IngressRule{{Host: host}},
				},
			}
			if owner != nil {
				forged.OwnerReferences = []metav1.OwnerReference{*owner}
				forged.Labels[v1alpha1.LabelDarkroom] = owner.Name
			}
			create(t, forged)
			startOperator(t, namespace)
			create(t, with(webFolder(namespace, "photos"), "shared-"+namespace))
			eventually(t, "the host", isRouted(namespace, "photos", host))
			mustGet(t, &networkingv1.Ingress{}, namespace, "forged")
		})
	}
}
