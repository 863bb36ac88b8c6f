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

// Options limits the caches to some namespaces (none means all), to the Darkrooms that a selector
// matches (nil means all), and to objects of some kinds with the Darkroom label. The selector
// does not limit these objects: when the labels of a Darkroom change, the operator that handles it
// next has its objects in the cache. Leases of hosts are cached in leaseNamespace. Managed fields are dropped
// where nothing reads them. Only these kinds can be read: a read of another kind fails and does not start a watch.
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
		// A read of a kind that is not watched would otherwise start a watch.
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
			// Metadata is only read.
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

// mapperOf maps the kinds that are cached. Caches that are limited to namespaces ask for the
// scope of a kind at each read, and the mapper of a cluster, which asks one for each API group,
// would cost more than the rest of a reconcile without changes.
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
