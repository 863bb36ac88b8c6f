package live

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// NewCache returns a cache of Darkrooms. It removes write-only fields before a Darkroom is cached, so that no later
// mistake can disclose them.
func NewCache(cluster *rest.Config, httpClient *http.Client, namespaces []string) (cache.Cache, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	// A static mapping avoids discovery, which fails while the cluster is unavailable.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.GroupVersionKind, meta.RESTScopeNamespace)
	options := cache.Options{
		HTTPClient:                  httpClient,
		Scheme:                      scheme,
		Mapper:                      mapper,
		ReaderFailOnMissingInformer: true,
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.Darkroom{}: {Transform: concealCached},
		},
	}
	if len(namespaces) > 0 {
		options.DefaultNamespaces = map[string]cache.Config{}
		for _, namespace := range namespaces {
			options.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return cache.New(cluster, options)
}

// concealCached is the transform of the cache.
func concealCached(object any) (any, error) {
	if darkroom, ok := object.(*v1alpha1.Darkroom); ok {
		darkroom.ManagedFields = nil
		wire.Conceal(darkroom)
	}
	return object, nil
}

// Feed updates Darkrooms by an informer. synced reports whether the initial list is complete.
func Feed(ctx context.Context, darkrooms cache.Cache, into *Darkrooms) (synced func() bool, err error) {
	informer, err := darkrooms.GetInformer(ctx, &v1alpha1.Darkroom{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch Darkrooms: %w", err)
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { put(into, object) },
		UpdateFunc: func(_, object any) { put(into, object) },
		DeleteFunc: func(object any) {
			key, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(object)
			if err != nil {
				return
			}
			namespace, name, err := toolscache.SplitMetaNamespaceKey(key)
			if err == nil {
				into.Remove(types.NamespacedName{Namespace: namespace, Name: name})
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watch Darkrooms: %w", err)
	}
	return registration.HasSynced, nil
}

func put(into *Darkrooms, object any) {
	if darkroom, ok := object.(*v1alpha1.Darkroom); ok {
		into.Put(darkroom)
	}
}
