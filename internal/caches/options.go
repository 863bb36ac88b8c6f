package caches

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Options limits the caches to some namespaces (none means all), to the Darkrooms that match a selector (nil means
// all), and to objects of the given kinds that have the Darkroom label. The selector does not apply to these objects:
// when the labels of a Darkroom change, the operator of its new shard already has the objects in its cache. Leases of
// hosts are cached in leaseNamespace. Managed fields that nothing reads are dropped. Reads of other kinds fail instead
// of starting a watch.
func Options(
	kinds []Kind, namespaces []string, darkrooms labels.Selector, leaseNamespace string,
) (cache.Options, error) {
	belongs, err := labels.NewRequirement(v1alpha1.LabelDarkroom, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	objects := labels.NewSelector().Add(*belongs)
	ofHost, err := labels.NewRequirement(v1alpha1.LabelHost, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	options := cache.Options{
		Mapper:           mapperOf(kinds),
		DefaultTransform: withoutManagedFields,
		// Without it, a read of another kind would start a watch.
		ReaderFailOnMissingInformer: true,
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.Darkroom{}: {Label: darkrooms},
			&coordinationv1.Lease{}: {
				Namespaces: namespaceConfigs([]string{leaseNamespace}), Label: labels.NewSelector().Add(*ofHost),
			},
		},
	}
	for _, kind := range kinds {
		limits := cache.ByObject{Label: objects}
		switch kind.Typed.(type) {
		case nil:
			// Metadata is never modified.
			limits.UnsafeDisableDeepCopy = ptr.To(true)
		case *appsv1.Deployment:
			limits.Transform = withoutPodSpec
		}
		options.ByObject[kind.Object()] = limits
	}
	if len(namespaces) == 0 {
		options.ByObject[IngressClass()] = cache.ByObject{UnsafeDisableDeepCopy: ptr.To(true)}
	}
	options.DefaultNamespaces = namespaceConfigs(namespaces)
	return options, nil
}

// mapperOf returns a mapper for the cached kinds. Caches limited to namespaces look up the scope of a kind at each
// read. The usual mapper discovers each API group, which would cost more than the rest of a reconcile without changes.
func mapperOf(kinds []Kind) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	kinds = append(slices.Clone(kinds), Kind{GroupVersionKind: v1alpha1.GroupVersionKind},
		Kind{GroupVersionKind: coordinationv1.SchemeGroupVersion.WithKind("Lease")})
	for _, kind := range kinds {
		mapper.Add(kind.GroupVersionKind, meta.RESTScopeNamespace)
		mapper.Add(kind.GroupVersion().WithKind(kind.Kind+"List"), meta.RESTScopeNamespace)
	}
	mapper.Add(ingressClass, meta.RESTScopeRoot)
	return mapper
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
