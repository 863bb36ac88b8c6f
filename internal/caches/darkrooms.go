package caches

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// AllDarkrooms returns a cache of the claims of all Darkrooms, those of other shards included, and
// adds it to a manager. It has what decides whose a host is, and nothing else.
func AllDarkrooms(mgr manager.Manager, namespaces []string) (cache.Cache, error) {
	all, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient:        mgr.GetHTTPClient(),
		Scheme:            mgr.GetScheme(),
		Mapper:            mapperOf(nil),
		DefaultNamespaces: namespaceConfigs(namespaces),
		ByObject:          map[client.Object]cache.ByObject{&v1alpha1.Darkroom{}: {Transform: claimsOnly}},
	})
	if err != nil {
		return nil, fmt.Errorf("create cache of Darkrooms: %w", err)
	}
	if err := mgr.Add(cacheRunnable{all}); err != nil {
		return nil, fmt.Errorf("add cache of Darkrooms: %w", err)
	}
	return all, nil
}

// claimsOnly keeps of a Darkroom what decides on its claims.
func claimsOnly(object any) (any, error) {
	full, ok := object.(*v1alpha1.Darkroom)
	if !ok {
		return object, nil
	}
	narrow := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{
		Namespace: text(full.Namespace), Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion,
		Generation:        full.Generation,
		CreationTimestamp: full.CreationTimestamp, DeletionTimestamp: full.DeletionTimestamp,
	}}
	for _, key := range []string{v1alpha1.AnnotationInstallation, v1alpha1.AnnotationPaused} {
		if value, found := full.Annotations[key]; found {
			metav1.SetMetaDataAnnotation(&narrow.ObjectMeta, key, text(value))
		}
	}
	narrow.Spec.SubDomains, narrow.Spec.BaseDomain = full.Spec.SubDomains, text(full.Spec.BaseDomain)
	narrow.Status.ObservedGeneration, narrow.Status.Domains = full.Status.ObservedGeneration, full.Status.Domains
	narrow.Status.BaseDomain, narrow.Status.Installation = text(full.Status.BaseDomain), text(full.Status.Installation)
	return narrow, nil
}
