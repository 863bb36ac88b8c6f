// Package manifest parses the rendered manifest of a release into objects, and computes the keys and digests by which
// objects are compared.
package manifest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Key identifies an object within the namespace of its release. It does not include the API version, so an object keeps
// its key when the chart changes the API version.
type Key struct {
	schema.GroupKind
	Name string
}

// KeyOf returns the key of an object.
func KeyOf(object *unstructured.Unstructured) Key {
	return Key{object.GroupVersionKind().GroupKind(), object.GetName()}
}

// Keys returns the keys of objects in the same order.
func Keys(objects []*unstructured.Unstructured) []Key {
	keys := make([]Key, len(objects))
	for i, object := range objects {
		keys[i] = KeyOf(object)
	}
	return keys
}

// String returns "Kind name", as used in messages.
func (k Key) String() string {
	return k.Kind + " " + k.Name
}

// Parse returns the objects of a rendered manifest in order, and sets the namespace of the release on each. It rejects
// objects of another namespace, so that a Darkroom is confined to its own, and duplicate keys.
func Parse(manifest, namespace string) ([]*unstructured.Unstructured, error) {
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
			return nil, fmt.Errorf("parse manifest: %s is in namespace %s, outside the release's namespace %s",
				KeyOf(object), object.GetNamespace(), namespace)
		}
		if slices.Contains(Keys(objects), KeyOf(object)) {
			return nil, fmt.Errorf("parse manifest: %s is defined twice", KeyOf(object))
		}
		objects = append(objects, object)
	}
}

// Identity returns a digest of a manifest. Records in the cluster contain this digest and the results of Digest, so
// after a change of either function every object would be applied once more.
func Identity(manifest string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(manifest)))
}

// Digest returns the first half of the SHA-256 of a value's JSON with sorted keys. It panics if the value cannot be
// encoded, which cannot happen for objects and metadata that were decoded from JSON.
func Digest(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return base64.RawStdEncoding.EncodeToString(sum[:16])
}
