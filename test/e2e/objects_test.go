//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
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

// exactlyWhatTheTemplateSays compares the objects of a Darkroom with the output of
// `darkroom-operator template`, and its Helm release with what a healthy one is.
func exactlyWhatTheTemplateSays(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	objects, err := objectsIn(ctx, darkroom.Namespace)
	if err != nil {
		return err
	}
	owned := ownedBy(objects, darkroom)
	wanted, err := templateNames(ctx, darkroom)
	if err != nil {
		return err
	}
	live := slices.DeleteFunc(slices.Clone(owned), isRevision)
	if got := names(live); !slices.Equal(got, wanted) {
		return fmt.Errorf("%s has\n%s\nand should have\n%s", darkroom.Name, strings.Join(got, ", "), strings.Join(wanted, ", "))
	}
	return healthyRelease(slices.DeleteFunc(owned, func(object found) bool { return !isRevision(object) }))
}

// waitExact waits for it: objects of the last rollout are deleted a moment after its end.
func waitExact(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	within(t, repairTimeout, darkroom.Name+" is exactly what the template says", func(ctx context.Context) error {
		return exactlyWhatTheTemplateSays(ctx, darkroom)
	})
}

// healthyRelease returns an error unless the newest revision is deployed and none
// is pending. (A kill between two writes can leave an older one marked as deployed
// too, until the next upgrade.)
func healthyRelease(revisions []found) error {
	statuses := map[string][]string{}
	newest, newestStatus := 0, ""
	for _, revision := range revisions {
		version := 0
		if _, err := fmt.Sscan(revision.Labels["version"], &version); err != nil {
			return fmt.Errorf("revision %s: %w", revision.Name, err)
		}
		status := revision.Labels["status"]
		if version > newest {
			newest, newestStatus = version, status
		}
		statuses[status] = append(statuses[status], revision.Name)
	}
	for status := range statuses {
		if strings.HasPrefix(status, "pending") {
			return fmt.Errorf("revisions are %v", statuses)
		}
	}
	if newestStatus != "deployed" {
		return fmt.Errorf("revisions are %v: the newest should be deployed", statuses)
	}
	return nil
}
