package histories

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// tenantFinalizer is the finalizer of a tenant's controller, which removes it late.
const tenantFinalizer = "example.com/slow"

// othersSteps are actions of other clients in the namespaces of tenants: GitOps tools, backups, autoscalers and
// controllers of tenants.
var othersSteps = []kind{
	onDarkroom(2,
		"kubectl apply --server-side --force-conflicts, as argocd: the Deployment NAME with another image, and a variable",
		func(w *world, key types.NamespacedName) error {
			if err := w.kube.Get(w.ctx, key, &appsv1.Deployment{}); err != nil {
				return err
			}
			applied := &unstructured.Unstructured{
				Object: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
					"containers": []any{map[string]any{
						"name": "darkroom", "image": "example.com/another:v1",
						"env": []any{map[string]any{"name": "DEBUG", "value": "1"}},
					}},
				}}}},
			}
			applied.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
			applied.SetNamespace(key.Namespace)
			applied.SetName(key.Name)
			err := w.kube.Apply(w.ctx, client.ApplyConfigurationFromUnstructured(applied),
				client.FieldOwner("argocd"), client.ForceOwnership)
			if err != nil {
				return err
			}
			return w.wrote(applied)
		}),
	onObject(2, "kubectl patch: a finalizer of a controller of the tenant", func(o *unstructured.Unstructured) {
		o.SetFinalizers(append(o.GetFinalizers(), tenantFinalizer))
	}),
	platform(2, "the controllers of the tenants remove their finalizers", (*world).endFinalizers),
	onObject(1, "kubectl patch: managedFields: [{}]", func(o *unstructured.Unstructured) {
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{}})
	}),
	onObject(2, "kubectl delete", nil),
	onDarkroom(1, "kubectl delete the records of all revisions of NAME", func(w *world, key types.NamespacedName) error {
		return w.kube.DeleteAllOf(w.ctx, &appsv1.ControllerRevision{}, client.InNamespace(key.Namespace),
			client.MatchingLabels{v1alpha1.LabelDarkroom: key.Name})
	}),
	change(2, "kubectl patch darkroom NAME: 2 to 5 pods by an autoscaler", func(_ *world, d *v1alpha1.Darkroom) error {
		d.Spec.Replicas, d.Spec.Autoscaling = nil, &v1alpha1.Autoscaling{MinReplicas: ptr.To[int32](2), MaxReplicas: 5}
		return nil
	}),
	change(1, "kubectl patch darkroom NAME: no autoscaler", func(_ *world, d *v1alpha1.Darkroom) error {
		d.Spec.Autoscaling = nil
		return nil
	}),
	onDarkroom(3, "the autoscaler scales the Deployment NAME", (*world).autoscale),
	inNamespace(1, "velero saves the namespace", func(w *world, namespace string) error {
		now, err := w.within(namespace)
		if err == nil {
			w.saves[namespace] = now
		}
		return err
	}),
	inNamespace(2, "velero restores what the namespace lacks, with new UIDs", (*world).restoreNamespace),
}

// inNamespace generates steps in the namespace of a tenant.
func inNamespace(weight int, says string, do func(w *world, namespace string) error) kind {
	return kind{weight, func(t *rapid.T) step {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		return step{says + " " + tenant, func(w *world) error { return do(w, tenant+w.suffix) }}
	}}
}

// onObject generates a change that an admin of the namespace makes to an object of a Darkroom: mutate, or a deletion
// if mutate is nil.
func onObject(weight int, command string, mutate func(*unstructured.Unstructured)) kind {
	return kind{weight, func(t *rapid.T) step {
		tenant, name := who(t)
		kind := rapid.SampledFrom([]string{"ConfigMap", "Deployment", "Ingress", "Service", "ServiceAccount", "HTTPRoute"}).
			Draw(t, "kind")
		return step{fmt.Sprintf("%s: %s, on the %s of Darkroom %s", tenant, command, kind, name), func(w *world) error {
			objects, err := w.within(tenant + w.suffix)
			if err != nil {
				return err
			}
			at := slices.IndexFunc(objects, func(o unstructured.Unstructured) bool {
				return o.GetKind() == kind && o.GetLabels()[v1alpha1.LabelDarkroom] == name
			})
			switch {
			case at < 0:
				return errNothingToDo
			case mutate == nil:
				return w.remove(&objects[at])
			}
			return edit(w, client.ObjectKeyFromObject(&objects[at]), &objects[at], func(o *unstructured.Unstructured) error {
				mutate(o)
				return nil
			})
		}}
	}}
}

// within returns the objects in a namespace that may belong to releases, and its Darkrooms.
func (w *world) within(namespace string) ([]unstructured.Unstructured, error) {
	objects, err := w.objects()
	if err != nil {
		return nil, err
	}
	darkrooms := &unstructured.UnstructuredList{}
	darkrooms.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.Kind + "List"))
	err = w.kube.List(w.ctx, darkrooms, client.InNamespace(namespace))
	objects = slices.DeleteFunc(objects, func(o unstructured.Unstructured) bool { return o.GetNamespace() != namespace })
	return append(objects, darkrooms.Items...), err
}

// restoreNamespace creates saved objects that are gone, without their status.
func (w *world) restoreNamespace(namespace string) error {
	saved := w.saves[namespace]
	if saved == nil {
		return errNothingToDo
	}
	for i := range saved {
		restored := saved[i].DeepCopy()
		for _, field := range []string{
			"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields",
			"deletionTimestamp", "deletionGracePeriodSeconds",
		} {
			unstructured.RemoveNestedField(restored.Object, "metadata", field)
		}
		unstructured.RemoveNestedField(restored.Object, "status")
		unstructured.RemoveNestedField(restored.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(restored.Object, "spec", "clusterIPs")
		create := w.create
		if restored.GetKind() == v1alpha1.Kind {
			create = func(o client.Object) error { return w.kube.Create(w.ctx, o) }
		}
		if err := benign(create(restored)); err != nil {
			return err
		}
	}
	return nil
}

// endFinalizers acts as the controllers of tenants: they remove their finalizers.
func (w *world) endFinalizers() error {
	objects, err := w.objects()
	if err != nil {
		return err
	}
	for i := range objects {
		if !slices.Contains(objects[i].GetFinalizers(), tenantFinalizer) {
			continue
		}
		err := edit(w, client.ObjectKeyFromObject(&objects[i]), &objects[i], func(o *unstructured.Unstructured) error {
			o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(),
				func(finalizer string) bool { return finalizer == tenantFinalizer }))
			return nil
		})
		if err := benign(err); err != nil {
			return err
		}
	}
	return nil
}

// autoscale scales a Deployment, as the autoscaler of its Darkroom if it has one.
func (w *world) autoscale(key types.NamespacedName) error {
	deployment := &appsv1.Deployment{}
	if err := w.kube.Get(w.ctx, key, deployment); err != nil {
		return err
	}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 2 + ptr.Deref(deployment.Spec.Replicas, 1)%4}}
	if err := w.kube.SubResource("scale").Update(w.ctx, deployment, client.WithSubResourceBody(scale)); err != nil {
		return err
	}
	d, err := w.darkroom(key)
	if err != nil {
		return err
	}
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{}
	if err := w.kube.Get(w.ctx, key, autoscaler); err != nil {
		return err
	}
	if d.Spec.Autoscaling != nil && metav1.IsControlledBy(autoscaler, d) {
		w.scaled[deployment.UID] = scale.Spec.Replicas
	}
	return nil
}

// scaleStays fails unless a Deployment has the number of pods set by its autoscaler.
func scaleStays(w *world) error {
	all, err := w.allDarkrooms()
	if err != nil {
		return err
	}
	for i := range all {
		d, live := &all[i], &appsv1.Deployment{}
		err := w.kube.Get(w.ctx, client.ObjectKeyFromObject(d), live)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return err
		case d.Spec.Autoscaling == nil:
			delete(w.scaled, live.UID)
		}
		if wanted, isScaled := w.scaled[live.UID]; isScaled && *live.Spec.Replicas != wanted {
			return fmt.Errorf("%s/%s has %d replicas, but its autoscaler set %d", d.Namespace, d.Name,
				*live.Spec.Replicas, wanted)
		}
	}
	return nil
}
