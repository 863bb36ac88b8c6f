package controller

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The indexes of controller-runtime have two keys for each value: one for lists of a
// namespace, and one for lists of all. Each of the operator's indexes is read in only one of
// these ways, and the other keys would take a quarter of its memory.

// narrowIndexer adds indexes that are read in one way. Lists of the other find nothing.
type narrowIndexer struct {
	cache cache.Cache
	// key returns the key of a value of an object, in the form of controller-runtime.
	key func(object client.Object, value string) string
}

// indexOfNamespaces adds indexes for lists of one namespace.
func indexOfNamespaces(in cache.Cache) client.FieldIndexer {
	return narrowIndexer{in, func(object client.Object, value string) string { return object.GetNamespace() + "/" + value }}
}

// indexOfAll adds indexes for lists of all namespaces.
func indexOfAll(in cache.Cache) client.FieldIndexer {
	return narrowIndexer{in, func(_ client.Object, value string) string { return "__all_namespaces/" + value }}
}

// IndexField implements client.FieldIndexer.
func (i narrowIndexer) IndexField(ctx context.Context, prototype client.Object, field string, values client.IndexerFunc) error {
	informer, err := i.cache.GetInformer(ctx, prototype, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	return informer.AddIndexers(toolscache.Indexers{"field:" + field: func(item any) ([]string, error) {
		object, ok := item.(client.Object)
		if !ok {
			return nil, fmt.Errorf("%T is not an object", item)
		}
		var keys []string
		for _, value := range values(object) {
			keys = append(keys, i.key(object, value))
		}
		return keys, nil
	}})
}
