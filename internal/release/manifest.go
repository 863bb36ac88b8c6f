package release

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// objectKey names an object within the namespace of its release.
type objectKey struct {
	schema.GroupVersionKind
	name string
}

func keyOf(object *unstructured.Unstructured) objectKey {
	return objectKey{object.GroupVersionKind(), object.GetName()}
}

// String is "Kind name", as messages name an object.
func (k objectKey) String() string {
	return k.Kind + " " + k.name
}

// summary returns what is remembered of a release: what tells whether it still is what
// is wanted. It has no values and no hooks, and the identity of its manifest stands in
// the manifest's place. They are most of its memory, and are read again when something
// is to be written.
func summary(release *helmrelease.Release) *helmrelease.Release {
	out := copyRelease(release)
	out.Config, out.Hooks = nil, nil
	out.Manifest = identityOf(release.Manifest)
	return out
}

// parseManifest returns the objects of a rendered manifest, in its order. The
// objects of a Darkroom lie in the namespace of its release; one that names
// another namespace is refused, so that a Darkroom cannot reach out of its own.
func parseManifest(manifest, namespace string) ([]*unstructured.Unstructured, error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	var objects []*unstructured.Unstructured
	for {
		raw := map[string]any{}
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("parse manifest: %w", err)
		}
		if len(raw) == 0 {
			continue
		}
		object := &unstructured.Unstructured{Object: raw}
		switch object.GetNamespace() {
		case "", namespace:
			object.SetNamespace(namespace)
		default:
			return nil, fmt.Errorf("parse manifest: %s lies in namespace %s, outside of the release's namespace %s",
				keyOf(object), object.GetNamespace(), namespace)
		}
		objects = append(objects, object)
	}
}

// workloads are the kinds that start pods. They are applied after all others,
// so that the pods find their ServiceAccount and configuration.
var workloads = []string{"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod"}

// waves splits objects in those that pods need and the workloads that start pods.
func waves(objects []*unstructured.Unstructured) [][]*unstructured.Unstructured {
	var first, second []*unstructured.Unstructured
	for _, object := range objects {
		if slices.Contains(workloads, object.GetKind()) {
			second = append(second, object)
		} else {
			first = append(first, object)
		}
	}
	return [][]*unstructured.Unstructured{first, second}
}
