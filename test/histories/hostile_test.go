package histories

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// crowd is the number of objects created by a tenant who creates many.
const crowd = 60

// An old Ingress is created in advance, and no controller serves it.
const oldIngress = "old"

func ingressOf(key types.NamespacedName, hosts ...string) *networkingv1.Ingress {
	ingress := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       networkingv1.IngressSpec{IngressClassName: ptr.To("nobody")},
	}
	route(ingress, append([]string{"nobody.example.com"}, hosts...)...)
	return ingress
}

// route sets the hosts of an Ingress.
func route(ingress *networkingv1.Ingress, hosts ...string) {
	ingress.Spec.Rules = nil
	for _, host := range hosts {
		ingress.Spec.Rules = append(ingress.Spec.Rules,
			networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{
				HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
					Path: "/", PathType: ptr.To(networkingv1.PathTypePrefix),
					Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
						Name: "any",
						Port: networkingv1.ServiceBackendPort{Number: 80},
					}},
				}}},
			}})
	}
}

// strayIngress returns an Ingress with a host, and with the label and owner reference of a Darkroom that does not
// exist.
func (w *world) strayIngress(tenant, host string, i int) *networkingv1.Ingress {
	ingress := ingressOf(w.key(tenant, fmt.Sprintf("crowd-%d", i)), w.hostOf(w.subDomain(host)))
	absent := w.newDarkroom(w.key(tenant, fmt.Sprintf("absent-%d", i)))
	absent.UID = types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i))
	ingress.Labels = map[string]string{v1alpha1.LabelDarkroom: absent.Name}
	ingress.OwnerReferences = []metav1.OwnerReference{ownership.Reference(absent)}
	return ingress
}

// hostileSteps are actions of a tenant with all permissions in a namespace.
var hostileSteps = []kind{
	{3, func(t *rapid.T) step {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		return step{
			tenant + ": kubectl create ingress " + oldIngress + " of a class that nobody serves",
			func(w *world) error {
				return w.create(ingressOf(w.key(tenant, oldIngress)))
			},
		}
	}},
	{8, func(t *rapid.T) step {
		tenant, name := who(t)
		ingress := rapid.SampledFrom([]string{oldIngress, oldIngress, name}).Draw(t, "ingress")
		host := rapid.SampledFrom(hostNames).Draw(t, "host")
		return step{
			fmt.Sprintf("%s: kubectl edit ingress %s: route the host %s, with label and owner reference of Darkroom %s", tenant,
				ingress, host, name), func(w *world) error {
				darkroom, err := w.darkroom(w.key(tenant, name))
				if err != nil {
					return err
				}
				return edit(w, w.key(tenant, ingress), &networkingv1.Ingress{}, func(i *networkingv1.Ingress) error {
					route(i, w.hostOf(w.subDomain(host)))
					i.Labels = map[string]string{v1alpha1.LabelDarkroom: name}
					i.OwnerReferences = []metav1.OwnerReference{ownership.Reference(darkroom)}
					return nil
				})
			},
		}
	}},
	{4, func(t *rapid.T) step {
		tenant, name := who(t)
		host := rapid.SampledFrom(hostNames).Draw(t, "host")
		return step{fmt.Sprintf("%s: kubectl create Darkroom %s with the sub-domain %s of the installation nobody", tenant,
			name, host), func(w *world) error {
			darkroom := w.newDarkroom(w.key(tenant, name), host)
			darkroom.Annotations = map[string]string{v1alpha1.AnnotationInstallation: "nobody"}
			return w.create(darkroom)
		}}
	}},
	{3, func(t *rapid.T) step {
		tenant, name := who(t)
		httpRoute := rapid.SampledFrom([]string{oldIngress, name}).Draw(t, "httpRoute")
		host := rapid.SampledFrom(hostNames).Draw(t, "host")
		return step{
			fmt.Sprintf("%s: kubectl apply httproute %s: route the host %s, with label and owner reference of Darkroom %s",
				tenant, httpRoute, host, name), func(w *world) error {
				darkroom, err := w.darkroom(w.key(tenant, name))
				if err != nil {
					return err
				}
				forged := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{
					Namespace: tenant + w.suffix, Name: httpRoute, Labels: map[string]string{v1alpha1.LabelDarkroom: name},
					OwnerReferences: []metav1.OwnerReference{ownership.Reference(darkroom)},
				}}
				forged.Spec.Hostnames = []gatewayv1.Hostname{gatewayv1.Hostname(w.hostOf(w.subDomain(host)))}
				if err := w.create(forged); !apierrors.IsAlreadyExists(err) {
					return err
				}
				return edit(w, client.ObjectKeyFromObject(forged), &gatewayv1.HTTPRoute{}, func(route *gatewayv1.HTTPRoute) error {
					route.Spec.Hostnames, route.Labels, route.OwnerReferences = forged.Spec.Hostnames,
						forged.Labels, forged.OwnerReferences
					return nil
				})
			},
		}
	}},
	{3, func(t *rapid.T) step {
		tenant, name := who(t)
		resource := rapid.SampledFrom([]string{"services", "deployments", "ingresses"}).Draw(t, "resource")
		return step{fmt.Sprintf("%s: kubectl create one of the %s with the name %s, which is no Darkroom's", tenant, resource,
			name), func(w *world) error {
			object := w.exampleOf(resource, tenant+w.suffix)
			object.SetName(name)
			return w.create(object)
		}}
	}},
	onDarkroom(2, "kubectl delete the last revision of NAME", func(w *world, key types.NamespacedName) error {
		list := &corev1.SecretList{}
		err := w.kube.List(w.ctx, list, client.InNamespace(key.Namespace),
			client.MatchingLabels{"owner": "helm", "name": key.Name, "status": "deployed"})
		if err != nil {
			return err
		}
		for i := range list.Items {
			if err := w.removeByUser(&list.Items[i]); err != nil {
				return err
			}
			w.ended[key.String()] = true
		}
		return nil
	}),
	careless(1, "kubectl edit service NAME: remove the owner references", &corev1.Service{},
		func(_ *world, s *corev1.Service) error {
			s.OwnerReferences = nil
			return nil
		}),
	careless(1, "kubectl edit deployment NAME: remove the owner references", &appsv1.Deployment{},
		func(w *world, d *appsv1.Deployment) error {
			d.OwnerReferences = nil
			w.ended[client.ObjectKeyFromObject(d).String()] = true
			return nil
		}),
	careless(1, "kubectl label ingress NAME darkroom-", &networkingv1.Ingress{},
		func(_ *world, i *networkingv1.Ingress) error {
			delete(i.Labels, v1alpha1.LabelDarkroom)
			return nil
		}),
	change(1, "kubectl annotate darkroom NAME installation=nobody", func(_ *world, d *v1alpha1.Darkroom) error {
		return annotate(d, v1alpha1.AnnotationInstallation, "nobody")
	}),
	change(1, "kubectl patch darkroom NAME: a finalizer that nobody removes, until it is deleted",
		func(_ *world, d *v1alpha1.Darkroom) error {
			if d.DeletionTimestamp != nil {
				d.Finalizers = nil
			} else {
				d.Finalizers = append(d.Finalizers, "example.com/never")
			}
			return nil
		}),
	onDarkroom(3, "kubectl create secret with the labels owner=helm, name=NAME",
		func(w *world, key types.NamespacedName) error {
			return w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: "forged-" + key.Name, Labels: map[string]string{"owner": "helm", "name": key.Name},
			}})
		}),
	onDarkroom(2, "kubectl edit the last revision of NAME: a record with versions of tomorrow",
		func(w *world, key types.NamespacedName) error {
			list := &corev1.SecretList{}
			err := w.kube.List(w.ctx, list, client.InNamespace(key.Namespace),
				client.MatchingLabels{"owner": "helm", "name": key.Name, "status": "deployed"})
			if err != nil {
				return err
			}
			for i := range list.Items {
				err := edit(w, client.ObjectKeyFromObject(&list.Items[i]), &list.Items[i], func(s *corev1.Secret) error {
					s.Data["applied"] = tomorrow(s.Data["applied"])
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		}),
	{2, func(t *rapid.T) step {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		host := rapid.SampledFrom(hostNames).Draw(t, "host")
		return step{
			fmt.Sprintf("%s: kubectl create %d Ingresses of Darkrooms that do not exist, with the host %s and a finalizer",
				tenant, crowd, host), func(w *world) error {
				for i := range crowd {
					ingress := w.strayIngress(tenant, host, i)
					ingress.Finalizers = []string{"example.com/never"}
					if err := w.kube.Create(w.ctx, ingress); err != nil {
						return err
					}
				}
				return nil
			},
		}
	}},
	{2, func(t *rapid.T) step {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		host := rapid.SampledFrom(hostNames).Draw(t, "host")
		return step{
			fmt.Sprintf("%s: %d times, kubectl create and delete an Ingress of a Darkroom that does not exist, with the host %s",
				tenant, crowd, host), func(w *world) error {
				for i := range crowd {
					ingress := w.strayIngress(tenant, host, i)
					if err := w.kube.Create(w.ctx, ingress); err != nil {
						return err
					}
					if err := w.kube.Delete(w.ctx, ingress); err != nil {
						return err
					}
				}
				return nil
			},
		}
	}},
	careless(2, "kubectl edit ingress NAME: remove the owner references", &networkingv1.Ingress{},
		func(_ *world, i *networkingv1.Ingress) error {
			i.OwnerReferences = nil
			return nil
		}),
	careless(1, "kubectl edit service NAME: a finalizer that nobody removes", &corev1.Service{},
		func(_ *world, s *corev1.Service) error {
			s.Finalizers = []string{"example.com/never"}
			return nil
		}),
}
