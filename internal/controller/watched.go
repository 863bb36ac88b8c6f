package controller

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"reflect"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// watched is a kind of object that belongs to Darkrooms.
type watched struct {
	kind schema.GroupVersionKind
	// typed is set for kinds that are cached in full, because the status controller reads
	// them. Of the others, in particular Secrets, only metadata is cached.
	typed client.Object
}

// object returns an empty object of the cached type of this kind.
func (w watched) object() client.Object {
	if w.typed != nil {
		return w.typed.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy is of the same type
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(w.kind)
	return metadata
}

// list returns an empty list of the cached type of this kind.
func (w watched) list() client.ObjectList {
	switch w.typed.(type) {
	case *appsv1.Deployment:
		return &appsv1.DeploymentList{}
	case *networkingv1.Ingress:
		return &networkingv1.IngressList{}
	case *corev1.Service:
		return &corev1.ServiceList{}
	case *gatewayv1.HTTPRoute:
		return &gatewayv1.HTTPRouteList{}
	}
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(w.kind.GroupVersion().WithKind(w.kind.Kind + "List"))
	return metadata
}

// watchedKinds returns the kinds of managed objects that every cluster serves. Kinds that a
// cluster may lack are in optionalKinds.
func watchedKinds() []watched {
	return []watched{
		{kind: appsv1.SchemeGroupVersion.WithKind("Deployment"), typed: &appsv1.Deployment{}},
		{kind: networkingv1.SchemeGroupVersion.WithKind("Ingress"), typed: &networkingv1.Ingress{}},
		{kind: corev1.SchemeGroupVersion.WithKind("Service"), typed: &corev1.Service{}},
		{kind: corev1.SchemeGroupVersion.WithKind("ConfigMap")},
		{kind: corev1.SchemeGroupVersion.WithKind("Secret")},
		{kind: corev1.SchemeGroupVersion.WithKind("ServiceAccount")},
		{kind: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler")},
		{kind: policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")},
		{kind: networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")},
	}
}

// CacheOptions limits the caches to some namespaces (none means all), to the Darkrooms that
// a selector matches (nil means all), and to objects with the Darkroom label. These are those
// of all Darkrooms, so that one whose labels change finds its objects in the caches of the
// operator that handles it next. Managed fields are dropped where nothing reads them.
// Only watched kinds can be read: a read of another kind fails and does not start a watch.
func CacheOptions(cluster *Cluster, namespaces []string, darkrooms labels.Selector) (cache.Options, error) {
	belongs, err := labels.NewRequirement(v1alpha1.LabelDarkroom, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	objects := labels.NewSelector().Add(*belongs)
	options := cache.Options{
		Mapper:           cacheMapper(cluster.kinds()),
		DefaultTransform: withoutManagedFields,
		// A read of a kind that is not watched would otherwise start a watch.
		ReaderFailOnMissingInformer: true,
		ByObject:                    map[client.Object]cache.ByObject{&v1alpha1.Darkroom{}: {Label: darkrooms}},
	}
	for _, kind := range cluster.kinds() {
		limits := cache.ByObject{Label: objects}
		switch kind.typed.(type) {
		case nil:
			// Metadata is only read.
			limits.UnsafeDisableDeepCopy = ptr.To(true)
		case *appsv1.Deployment:
			limits.Transform = withoutPodSpec
		}
		options.ByObject[kind.object()] = limits
	}
	options.DefaultNamespaces = namespaceConfigs(namespaces)
	return options, nil
}

// cacheMapper maps the kinds that are cached. Caches that are limited to namespaces ask for the
// scope of a kind at each read, and the mapper of a cluster, which asks one for each API group,
// would cost more than the rest of a reconcile without changes.
func cacheMapper(kinds []watched) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range append(kinds, watched{kind: v1alpha1.GroupVersionKind}) {
		mapper.Add(kind.kind, meta.RESTScopeNamespace)
		mapper.Add(kind.kind.GroupVersion().WithKind(kind.kind.Kind+"List"), meta.RESTScopeNamespace)
	}
	return mapper
}

// withoutManagedFields drops the managed fields of an object, unless they are needed to
// distinguish changes of the spec from changes of the status.
func withoutManagedFields(object any) (any, error) {
	metadata, err := meta.Accessor(object)
	if err != nil || metadata.GetManagedFields() == nil {
		return object, nil //nolint:nilerr // what has no metadata has no managed fields
	}
	var kept []metav1.ManagedFieldsEntry
	if drift.HasStatusWithoutGeneration(metadata) {
		kept = drift.SpecificationWriters(metadata)
	}
	metadata.SetManagedFields(kept)
	share(metadata)
	return object, nil
}

// share makes parts of an object share the memory of equal ones in the caches: the objects of
// a Darkroom have the same labels and owner, and Darkrooms have the same conditions.
func share(metadata metav1.Object) {
	recent.mu.Lock()
	defer recent.mu.Unlock()
	recent.forget(time.Now())
	metadata.SetNamespace(recent.text(metadata.GetNamespace()))
	metadata.SetLabels(recent.texts(metadata.GetLabels()))
	metadata.SetAnnotations(recent.texts(metadata.GetAnnotations()))
	metadata.SetOwnerReferences(recent.references(metadata.GetOwnerReferences()))
	if darkroom, ok := metadata.(*v1alpha1.Darkroom); ok {
		for i := range darkroom.Status.Conditions {
			condition := &darkroom.Status.Conditions[i]
			condition.Type, condition.Reason = recent.text(condition.Type), recent.text(condition.Reason)
			condition.Status = metav1.ConditionStatus(recent.text(string(condition.Status)))
			condition.Message = recent.text(condition.Message)
		}
	}
}

// recent is the metadata of recently cached objects. The objects of a Darkroom are cached at
// nearly the same time: when it is installed, or at the start.
var recent recentMetadata

// recentMetadata finds equal parts of metadata. It forgets all of them once in a while, so
// that those of objects that are gone do not accumulate. Like all of a cached object, its
// maps and references must not be changed.
type recentMetadata struct {
	mu     sync.Mutex
	seed   maphash.Seed
	since  time.Time
	words  map[string]string
	maps   map[uint64]map[string]string
	owners map[types.UID][]metav1.OwnerReference
}

// forget drops everything if it is old.
func (r *recentMetadata) forget(now time.Time) {
	if now.Sub(r.since) > 5*time.Minute {
		r.seed, r.since = maphash.MakeSeed(), now
		r.words, r.maps = map[string]string{}, map[uint64]map[string]string{}
		r.owners = map[types.UID][]metav1.OwnerReference{}
	}
}

// text returns a recent string that is equal.
func (r *recentMetadata) text(value string) string {
	if known, found := r.words[value]; found {
		return known
	}
	r.words[value] = value
	return value
}

// texts returns a recent map of the same content, or else a copy.
func (r *recentMetadata) texts(values map[string]string) map[string]string {
	if values == nil {
		return nil
	}
	hash := uint64(0)
	for key, value := range values {
		hash += maphash.Comparable(r.seed, [2]string{key, value})
	}
	if known, found := r.maps[hash]; found && maps.Equal(known, values) {
		return known
	}
	out := make(map[string]string, len(values))
	for key, value := range values {
		out[r.text(key)] = r.text(value)
	}
	r.maps[hash] = out
	return out
}

// references returns recent owner references that are equal.
func (r *recentMetadata) references(owners []metav1.OwnerReference) []metav1.OwnerReference {
	if len(owners) == 0 {
		return owners
	}
	if known, found := r.owners[owners[0].UID]; found && reflect.DeepEqual(known, owners) {
		return known
	}
	for i := range owners {
		owner := &owners[i]
		owner.APIVersion, owner.Kind, owner.Name = r.text(owner.APIVersion), r.text(owner.Kind), r.text(owner.Name)
	}
	r.owners[owners[0].UID] = owners
	return owners
}

// withoutPodSpec drops the managed fields of a Deployment, its strategy, and what nothing
// reads of its pods, which is most of its memory: all but their images, their ServiceAccount,
// and the version of the credentials that they were created with.
func withoutPodSpec(object any) (any, error) {
	if deployment, ok := object.(*appsv1.Deployment); ok {
		deployment.Spec.Strategy = appsv1.DeploymentStrategy{}
		pods := &deployment.Spec.Template
		images := make([]corev1.Container, len(pods.Spec.Containers))
		for i, container := range pods.Spec.Containers {
			images[i] = corev1.Container{Name: container.Name, Image: container.Image}
		}
		deployment.Spec.Template = corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: values.CredentialsAnnotations(pods.Annotations)},
			Spec:       corev1.PodSpec{Containers: images, ServiceAccountName: pods.Spec.ServiceAccountName},
		}
	}
	return withoutManagedFields(object)
}

// namespaceConfigs limits a cache to some namespaces; none means all.
func namespaceConfigs(namespaces []string) map[string]cache.Config {
	if len(namespaces) == 0 {
		return nil
	}
	configs := map[string]cache.Config{}
	for _, namespace := range namespaces {
		configs[namespace] = cache.Config{}
	}
	return configs
}

// liveLookup finds objects of the watched kinds, without copying them.
func liveLookup(caches client.Reader, cluster *Cluster) release.LiveLookup {
	prototypes := map[schema.GroupKind]watched{}
	for _, kind := range cluster.kinds() {
		prototypes[kind.kind.GroupKind()] = kind
	}
	return func(ctx context.Context, kind schema.GroupKind, key types.NamespacedName) (metav1.Object, error) {
		prototype, found := prototypes[kind]
		if !found {
			return nil, nil //nolint:nilnil // the contract of LiveLookup for kinds that are not cached
		}
		object := prototype.object()
		if err := caches.Get(ctx, key, object, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		return object, nil
	}
}

// ownedLookup lists the objects of the watched kinds that have a Darkroom's key in the index
// ownership.Index, without copying them.
func ownedLookup(caches client.Reader, cluster *Cluster) release.OwnedLookup {
	return func(ctx context.Context, darkroom client.Object) (map[schema.GroupVersionKind][]metav1.Object, error) {
		found := map[schema.GroupVersionKind][]metav1.Object{}
		for _, kind := range cluster.kinds() {
			list := kind.list()
			err := caches.List(ctx, list, client.InNamespace(darkroom.GetNamespace()),
				client.MatchingFields{ownership.Index: ownership.IndexKey(darkroom.GetUID())}, client.UnsafeDisableDeepCopy)
			if err != nil {
				return nil, fmt.Errorf("list %ss: %w", kind.kind.Kind, err)
			}
			err = meta.EachListItem(list, func(item runtime.Object) error {
				object, err := meta.Accessor(item)
				if err == nil {
					found[kind.kind] = append(found[kind.kind], object)
				}
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("list %ss: %w", kind.kind.Kind, err)
			}
		}
		return found, nil
	}
}
