// Package manifests reads and applies manifests for tests.
package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// Decode returns the objects in YAML or JSON documents. Empty documents are skipped.
func Decode(documents []byte) ([]*unstructured.Unstructured, error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(documents), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("decode manifests: %w", err)
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

// Apply applies objects by server-side apply, in order, as an administrator would. It retries, because kinds that have
// just been defined may not be served yet.
func Apply(ctx context.Context, kube client.Client, limits wait.Limits, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		err := limits.Until(ctx, "applied "+object.GetKind()+" "+object.GetName(), func(ctx context.Context) error {
			err := kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()),
				client.FieldOwner("administrator"), client.ForceOwnership)
			if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
				return wait.Permanent(err)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadDarkroom reads a file with a single Darkroom, such as a sample.
func ReadDarkroom(path string) (*v1alpha1.Darkroom, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // tests choose their files
	if err != nil {
		return nil, err
	}
	darkroom := &v1alpha1.Darkroom{}
	if err := yaml.UnmarshalStrict(raw, darkroom); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return darkroom, nil
}
