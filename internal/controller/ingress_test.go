package controller_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// This is the first Darkroom in a cluster whose ingress controller is missing or serves another class.
func TestDomainsReadyReportsWhatTheIngressLacks(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	own := labels.Set{"tenant": namespace}
	startOperatorFor(t, nil, func(s *settings) { s.darkrooms = labels.SelectorFromSet(own) })
	darkroom := webFolder(namespace, "photos")
	darkroom.Labels, darkroom.Spec.SubDomains = own, []string{namespace}
	darkroom.Spec.Ingress = &v1alpha1.Ingress{ClassName: namespace, TLSSecretName: "cert"}
	install(t, darkroom)
	becomeReady(t, namespace, "photos")
	reports := func(status metav1.ConditionStatus, reason string) statusCheck {
		return has(v1alpha1.ConditionDomainsReady, status, reason)
	}
	host := hostIn(namespace)
	eventuallyStatus(t, darkroom, "no class", reports(metav1.ConditionFalse, v1alpha1.ReasonIngressClassMissing),
		isNotReady(v1alpha1.ReasonIngressClassMissing), hasDomains(host))

	class := &networkingv1.IngressClass{
		// Other tests install policies that require the label.
		ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"team": "a"}},
		Spec:       networkingv1.IngressClassSpec{Controller: "example.com/ingress"},
	}
	create(t, class)
	t.Cleanup(func() { _ = kube.Delete(context.Background(), class) })
	eventuallyStatus(t, darkroom, "no certificate", reports(metav1.ConditionFalse, v1alpha1.ReasonCertificateMissing),
		isNotReady(v1alpha1.ReasonCertificateMissing), says("Secret cert"), hasURL("http://"+host))

	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cert"}})
	eventuallyStatus(t, darkroom, "no address", reports(metav1.ConditionUnknown, v1alpha1.ReasonAwaitingAddress),
		isReady(), hasURL("https://"+host))

	ingress := mustGet(t, &networkingv1.Ingress{}, namespace, "photos")
	ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	if err := kube.Status().Update(t.Context(), ingress); err != nil {
		t.Fatal(err)
	}
	eventuallyStatus(t, darkroom, "an address", reports(metav1.ConditionTrue, v1alpha1.ReasonRouted), isReady())

	remove(t, class.DeepCopy())
	eventuallyStatus(t, darkroom, "the class is gone", isNotReady(v1alpha1.ReasonIngressClassMissing))
}

func hasURL(want string) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		if status.URL != want {
			return fmt.Errorf("got URL %q, want %q", status.URL, want)
		}
		return nil
	}
}

// A Role cannot grant the permission to read IngressClasses.
func TestAnOperatorOfSomeNamespacesDoesNotJudgeIngressClasses(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t,
		func(d *v1alpha1.Darkroom) { d.Spec.Ingress = &v1alpha1.Ingress{ClassName: "nope"} })
	becomeReady(t, darkroom.Namespace, "photos")
	eventuallyStatus(t, darkroom, "ready", isReady(),
		has(v1alpha1.ConditionDomainsReady, metav1.ConditionUnknown, v1alpha1.ReasonAwaitingAddress))
}
