package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// The Ingress of a paused Darkroom may be gone, but the operator does not know for how long.
func TestAHostThatAPausedDarkroomHoldsIsReportedAsHeld(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	shared := "shared-" + namespace
	operator := startOperator(t, namespace)
	holder := with(webFolder(namespace, "holder"), shared)
	create(t, holder)
	eventually(t, "the host", isRouted(namespace, "holder", hostIn(shared)))
	eventually(t, "rest", quiet(operator))
	change(t, holder, func(d *v1alpha1.Darkroom) { d.Annotations[v1alpha1.AnnotationPaused] = "true" })
	eventuallyCondition(t, holder, "paused", v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonPaused)
	change(t, holder, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{"other-" + namespace} })
	remove(t, mustGet(t, &networkingv1.Ingress{}, namespace, "holder"))
	waiting := with(webFolder(namespace, "waiting"), shared)
	create(t, waiting)
	eventuallyStatus(t, waiting, "the cause", func(status v1alpha1.DarkroomStatus) error {
		found := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionDomainsReady)
		if found == nil || !strings.Contains(found.Message, hostIn(shared)+" is still in use by Darkroom "+namespace+"/holder, which is paused") {
			return fmt.Errorf("the condition is %+v", found)
		}
		return condition(status, v1alpha1.ConditionDomainsReady, metav1.ConditionFalse, v1alpha1.ReasonDomainConflict)
	})
	change(t, holder, func(d *v1alpha1.Darkroom) { delete(d.Annotations, v1alpha1.AnnotationPaused) })
	eventually(t, "the host", isRouted(namespace, "waiting", hostIn(shared)))
	eventuallyStatus(t, waiting, "no conflict", func(status v1alpha1.DarkroomStatus) error {
		if err := condition(status, v1alpha1.ConditionDomainsReady, metav1.ConditionTrue, v1alpha1.ReasonRouted); err != nil {
			return errors.New("the condition is still there")
		}
		return nil
	})
}
