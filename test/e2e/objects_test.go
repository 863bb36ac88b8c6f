//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// found is an object of any kind.
type found struct {
	kind string
	metav1.PartialObjectMetadata
}

func (f found) String() string { return f.kind + " " + f.Name }

// objectsIn lists the objects in a namespace, of all kinds of the cluster, except events
// and those that Kubernetes creates in every namespace.
func objectsIn(ctx context.Context, namespace string) ([]found, error) {
	lists, err := clientset.Discovery().ServerPreferredNamespacedResources()
	if err != nil {
		return nil, fmt.Errorf("ask for the kinds of the cluster: %w", err)
	}
	var objects []found
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "create"}}, lists) {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if resource.Name == "events" {
				continue
			}
			items, err := anyKind.Resource(group.WithResource(resource.Name)).Namespace(namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", resource.Name, err)
			}
			for _, item := range items.Items {
				object := found{resource.Kind, item}
				if name := object.String(); name != "ConfigMap kube-root-ca.crt" && name != "ServiceAccount default" {
					objects = append(objects, object)
				}
			}
		}
	}
	return objects, nil
}

// names are the sorted names of objects.
func names(objects []found) []string {
	out := make([]string, 0, len(objects))
	for _, object := range objects {
		out = append(out, object.String())
	}
	slices.Sort(out)
	return out
}

// ownedBy returns the objects that an owner controls.
func ownedBy(objects []found, owner client.Object) []found {
	var owned []found
	for _, object := range objects {
		if metav1.IsControlledBy(&object, owner) {
			owned = append(owned, object)
		}
	}
	return owned
}

// isRevision reports whether an object is a Secret in which Helm keeps a revision.
func isRevision(object found) bool {
	return object.kind == "Secret" && object.Labels["owner"] == "helm"
}
