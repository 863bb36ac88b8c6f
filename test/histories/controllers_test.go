package histories

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// control acts once as the controllers of Kubernetes: garbage collection, namespaces, quotas, Deployments, and a
// Gateway that accepts all routes. It reports whether it wrote anything.
func (w *world) control() (changed bool, err error) {
	darkrooms, err := w.allDarkrooms()
	if err != nil {
		return false, err
	}
	objects, err := w.objects()
	if err != nil {
		return false, err
	}
	if changed, err = w.administer(darkrooms, objects); err != nil {
		return changed, err
	}
	living := map[types.UID]*v1alpha1.Darkroom{}
	for i := range darkrooms {
		living[darkrooms[i].UID] = &darkrooms[i]
	}
	for i := range objects {
		wrote, err := w.collect(&objects[i], living)
		if err == nil && !wrote {
			wrote, err = w.serve(&objects[i])
		}
		if err = benign(err); err != nil {
			return changed, err
		}
		changed = changed || wrote
	}
	for i := range darkrooms {
		wrote, err := w.finish(&darkrooms[i], objects)
		if err = benign(err); err != nil {
			return changed, err
		}
		changed = changed || wrote
	}
	return changed, nil
}

// administer acts as the controllers of namespaces and quotas. A namespace that is being deleted is removed after its
// content. Quotas count Secrets.
func (w *world) administer(
	darkrooms []v1alpha1.Darkroom, objects []unstructured.Unstructured,
) (changed bool, err error) {
	namespaces := &corev1.NamespaceList{}
	if err := w.kube.List(w.ctx, namespaces, client.MatchingLabels{"history": w.suffix[1:]}); err != nil {
		return false, err
	}
	for i := range namespaces.Items {
		var within []client.Object
		for j := range darkrooms {
			within = append(within, &darkrooms[j])
		}
		for j := range objects {
			within = append(within, &objects[j])
		}
		within = slices.DeleteFunc(within, func(o client.Object) bool { return o.GetNamespace() != namespaces.Items[i].Name })
		act := w.count
		if namespaces.Items[i].DeletionTimestamp != nil {
			act = w.empty
		}
		wrote, err := act(&namespaces.Items[i], within)
		if err = benign(err); err != nil {
			return changed, err
		}
		changed = changed || wrote
	}
	return changed, nil
}

// empty deletes the content of a namespace, and then the namespace.
func (w *world) empty(namespace *corev1.Namespace, within []client.Object) (changed bool, err error) {
	if len(within) == 0 {
		namespace.Spec.Finalizers = nil
		return true, w.kube.SubResource("finalize").Update(w.ctx, namespace)
	}
	for _, object := range within {
		if object.GetDeletionTimestamp() != nil {
			continue
		}
		if err := benign(w.remove(object)); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// count sets the used amount of a quota.
func (w *world) count(namespace *corev1.Namespace, within []client.Object) (bool, error) {
	quotas := &corev1.ResourceQuotaList{}
	if err := w.kube.List(w.ctx, quotas, client.InNamespace(namespace.Name)); err != nil || len(quotas.Items) == 0 {
		return false, err
	}
	secrets := slices.DeleteFunc(within, func(o client.Object) bool { return referTo(o).Kind != "Secret" })
	quota, used := &quotas.Items[0], resource.NewQuantity(int64(len(secrets)), resource.DecimalSI)
	if now, isCounted := quota.Status.Used[countSecrets]; isCounted && now.Equal(*used) {
		return false, nil
	}
	quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: corev1.ResourceList{countSecrets: *used}}
	return true, w.kube.Status().Update(w.ctx, quota)
}

// collect deletes an object whose owner is gone. If the owner is deleted without its dependents, it removes the owner
// reference.
func (w *world) collect(object *unstructured.Unstructured, living map[types.UID]*v1alpha1.Darkroom) (bool, error) {
	owners := object.GetOwnerReferences()
	at := slices.IndexFunc(owners, func(owner metav1.OwnerReference) bool { return owner.Kind == v1alpha1.Kind })
	if at < 0 || object.GetDeletionTimestamp() != nil {
		return false, nil
	}
	owner := living[owners[at].UID]
	switch {
	case owner == nil:
		return true, w.remove(object)
	case owner.DeletionTimestamp != nil && slices.Contains(owner.Finalizers, metav1.FinalizerOrphanDependents):
		return true, w.orphan(object, owner.UID)
	case owner.DeletionTimestamp != nil && slices.Contains(owner.Finalizers, metav1.FinalizerDeleteDependents):
		return true, w.remove(object)
	}
	return false, nil
}

// orphan removes an owner reference with the garbage collector's patch, which makes the API server encode the whole
// object again.
func (w *world) orphan(object *unstructured.Unstructured, owner types.UID) error {
	disowned := object.DeepCopy()
	err := w.kube.Patch(w.ctx, disowned, client.RawPatch(types.StrategicMergePatchType, fmt.Appendf(nil,
		`{"metadata":{"uid":%q,"ownerReferences":[{"$patch":"delete","uid":%q}]}}`, object.GetUID(), owner)))
	switch {
	case err == nil:
		return w.wrote(disowned)
	case !apierrors.IsUnsupportedMediaType(err):
		return err
	}
	return edit(w, client.ObjectKeyFromObject(object), object, func(o *unstructured.Unstructured) error {
		o.SetOwnerReferences(slices.DeleteFunc(o.GetOwnerReferences(),
			func(reference metav1.OwnerReference) bool { return reference.UID == owner }))
		return nil
	})
}

// finish removes the garbage collector's finalizers from a Darkroom that is being deleted.
func (w *world) finish(darkroom *v1alpha1.Darkroom, objects []unstructured.Unstructured) (bool, error) {
	isOurs := func(finalizer string) bool {
		return finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents
	}
	if darkroom.DeletionTimestamp == nil || !slices.ContainsFunc(darkroom.Finalizers, isOurs) ||
		slices.ContainsFunc(objects, func(object unstructured.Unstructured) bool {
			return metav1.IsControlledBy(&object, darkroom)
		}) {
		return false, nil
	}
	return true, edit(w, client.ObjectKeyFromObject(darkroom), darkroom, func(d *v1alpha1.Darkroom) error {
		d.Finalizers = slices.DeleteFunc(d.Finalizers, isOurs)
		return nil
	})
}

// serve acts as the controllers of Deployments, Gateways and load balancers: all pods are ready, and all routes
// accepted.
func (w *world) serve(object *unstructured.Unstructured) (bool, error) {
	if kind := object.GetKind(); kind == "Ingress" || kind == "HTTPRoute" {
		if changed, err := w.balance(object); changed || err != nil {
			return changed, err
		}
	}
	switch object.GetKind() {
	case "Deployment":
		deployment := &appsv1.Deployment{}
		if err := w.kube.Get(w.ctx, client.ObjectKeyFromObject(object), deployment); err != nil {
			return false, err
		}
		replicas := ptr.Deref(deployment.Spec.Replicas, 1)
		if deployment.Status.ObservedGeneration == deployment.Generation && deployment.Status.AvailableReplicas == replicas {
			return false, nil
		}
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation,
			Replicas:           replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		}
		return true, w.updateStatus(deployment)
	case "HTTPRoute":
		route := &gatewayv1.HTTPRoute{}
		if err := w.kube.Get(w.ctx, client.ObjectKeyFromObject(object), route); err != nil {
			return false, err
		}
		parents := route.Status.Parents
		if len(parents) > 0 && parents[0].Conditions[0].ObservedGeneration == route.Generation {
			return false, nil
		}
		route.Status.Parents = nil
		for _, parent := range route.Spec.ParentRefs {
			accepted := gatewayv1.RouteParentStatus{ParentRef: parent, ControllerName: "example.com/gateway"}
			for _, condition := range []string{"Accepted", "ResolvedRefs"} {
				accepted.Conditions = append(accepted.Conditions, metav1.Condition{
					Type: condition, Status: metav1.ConditionTrue, Reason: condition,
					ObservedGeneration: route.Generation, LastTransitionTime: metav1.NewTime(time.Now()),
				})
			}
			route.Status.Parents = append(route.Status.Parents, accepted)
		}
		if len(route.Status.Parents) == 0 {
			return false, nil
		}
		return true, w.updateStatus(route)
	}
	return false, nil
}

func (w *world) updateStatus(object client.Object) error {
	if err := w.kube.Status().Update(w.ctx, object); err != nil {
		return err
	}
	if _, isForeign := w.foreign[referTo(object)]; isForeign {
		w.foreign[referTo(object)] = object.GetResourceVersion()
	}
	return nil
}
