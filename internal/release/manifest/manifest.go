// Package manifest turns the rendered manifest of a release into objects, names them, and
// computes the digests that are compared in place of their content.
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

// Key identifies an object within the namespace of its release. The API version is not
// part of it: an object keeps its identity when a chart moves to another version.
type Key struct {
	schema.GroupKind
	Name string
}

// KeyOf returns the key of an object.
func KeyOf(object *unstructured.Unstructured) Key {
	return Key{object.GroupVersionKind().GroupKind(), object.GetName()}
}

// Keys returns the keys of objects, in their order.
func Keys(objects []*unstructured.Unstructured) []Key {
	keys := make([]Key, len(objects))
	for i, object := range objects {
		keys[i] = KeyOf(object)
	}
	return keys
}

// String is "Kind name", the form that messages use.
func (k Key) String() string {
	return k.Kind + " " + k.Name
}

// Parse returns the objects of a rendered manifest, in its order, each with the
// namespace of the release. It refuses an object that names another namespace, so that a
// Darkroom cannot reach out of its own, and two objects with one key.
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

// Identity returns a short digest that identifies a manifest. Records in the cluster hold it, and
// digests: with another encoding every object would be applied once more.
func Identity(manifest string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(manifest)))
}

// Digest returns the first half of the SHA-256 of a value's JSON, whose keys are sorted. It panics on a value that
// cannot be encoded; objects and metadata were decoded from JSON, so they can be.
func Digest(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return base64.RawStdEncoding.EncodeToString(sum[:16])
}
