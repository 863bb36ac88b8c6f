package controller_test

import (
	"context"
	"fmt"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// The same sub-domain is another host below another base domain.
func TestInstallationsWithOtherBaseDomainsDoNotShareHosts(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	for _, name := range []string{"first", "second"} {
		startOperator(t, namespace, as(name, name+"."+namespace+".example.com"))
		darkroom := with(webFolder(namespace, name), "photos")
		darkroom.Annotations = map[string]string{v1alpha1.AnnotationInstallation: name}
		create(t, darkroom)
		later(t, darkroom)
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

// Anyone who may create an Ingress can give it a label and an owner reference.
func TestAnIngressThatBelongsToNoDarkroomKeepsNoHost(t *testing.T) {
	t.Parallel()
	for name, owner := range map[string]*metav1.OwnerReference{
		"label alone":                     nil,
		"Darkroom that does not exist":    {APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.Kind, Name: "other", UID: "0d5e", Controller: ptr.To(true)},
		"Darkroom of the same name, gone": {APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.Kind, Name: "neighbor", UID: "0d5e", Controller: ptr.To(true)},
		"something else":                  {APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "0d5e", Controller: ptr.To(true)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			create(t, with(webFolder(namespace, "neighbor"), "neighbor-"+namespace))
			host := hostIn("shared-" + namespace)
			forged := &networkingv1.Ingress{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "forged", Labels: map[string]string{v1alpha1.LabelDarkroom: "other"}},
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
