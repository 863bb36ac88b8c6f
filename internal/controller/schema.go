package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/config/crd"
)

// schemaTimeout is how long the API server may take to publish an upgraded definition.
const schemaTimeout = 30 * time.Second

// structure is a part of a structural schema, as in definitions and in OpenAPI documents.
type structure struct {
	Properties map[string]structure `json:"properties"`
	Items      *structure           `json:"items"`
	Enum       []string             `json:"enum"`
	// Preserves is set if unknown fields are stored.
	Preserves bool `json:"x-kubernetes-preserve-unknown-fields"`
}

// CheckDefinition returns an error if the CustomResourceDefinition of Darkrooms in the cluster lacks
// fields of the status that this operator writes: the API server would drop them, the claim of each
// Darkroom among them, or refuse the whole status. Fields of the spec are not compared, because an
// operator without them works. The schema comes from the OpenAPI documents, which every
// authenticated user may read.
func CheckDefinition(ctx context.Context, api rest.Interface) error {
	wanted, err := writtenSchema()
	if err != nil {
		return err
	}
	var lacking []string
	var cause error
	err = wait.PollUntilContextTimeout(ctx, discoveryRetry, schemaTimeout, true, func(ctx context.Context) (bool, error) {
		var document []byte
		if document, cause = api.Get().AbsPath("/openapi/v3/apis/"+v1alpha1.GroupVersion.String()).
			SetHeader("Accept", "application/json").DoRaw(ctx); cause == nil {
			var served structure
			served, cause = servedSchema(document)
			lacking = lacks("status", wanted.Properties["status"], served.Properties["status"])
		}
		return apierrors.IsForbidden(cause) || apierrors.IsNotFound(cause) || cause == nil && len(lacking) == 0, nil
	})
	switch {
	case err == nil && cause == nil:
		return nil
	case len(lacking) == 0:
		ctrl.LoggerFrom(ctx).Info("The CustomResourceDefinition was not compared with this operator", "cause", errors.Join(cause, err).Error())
		return ctx.Err()
	}
	return fmt.Errorf("the CustomResourceDefinition darkrooms.%s in the cluster is older than this operator, and lacks %s: "+
		"apply that of this release (config/crd, or `helm upgrade` with crds.install=true)", v1alpha1.GroupVersion.Group, strings.Join(lacking, ", "))
}

// writtenSchema is the schema of the definition that this operator was built with.
func writtenSchema() (structure, error) {
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema structure `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(crd.Darkrooms, &definition); err != nil {
		return structure{}, fmt.Errorf("read the CustomResourceDefinition of this operator: %w", err)
	}
	for _, version := range definition.Spec.Versions {
		if version.Name == v1alpha1.GroupVersion.Version {
			return version.Schema.OpenAPIV3Schema, nil
		}
	}
	return structure{}, fmt.Errorf("the CustomResourceDefinition of this operator lacks the version %s", v1alpha1.GroupVersion.Version)
}

// servedSchema finds the schema of Darkrooms in an OpenAPI document.
func servedSchema(document []byte) (structure, error) {
	var served struct {
		Components struct {
			Schemas map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(document, &served); err != nil {
		return structure{}, fmt.Errorf("read the OpenAPI document of %s: %w", v1alpha1.GroupVersion, err)
	}
	for name, raw := range served.Components.Schemas {
		if !strings.HasSuffix(name, "."+v1alpha1.Kind) {
			continue
		}
		var found structure
		if err := json.Unmarshal(raw, &found); err != nil {
			return structure{}, fmt.Errorf("read the schema %s: %w", name, err)
		}
		return found, nil
	}
	return structure{}, fmt.Errorf("the OpenAPI document of %s has no Darkrooms", v1alpha1.GroupVersion)
}

// lacks returns the paths of the fields and values of a schema that another one lacks, sorted.
func lacks(path string, wanted, served structure) []string {
	var paths []string
	for name, field := range wanted.Properties {
		if other, found := served.Properties[name]; found {
			paths = append(paths, lacks(path+"."+name, field, other)...)
		} else if !served.Preserves {
			paths = append(paths, path+"."+name)
		}
	}
	if wanted.Items != nil && served.Items != nil {
		paths = append(paths, lacks(path+"[]", *wanted.Items, *served.Items)...)
	}
	for _, value := range wanted.Enum {
		if len(served.Enum) > 0 && !slices.Contains(served.Enum, value) {
			paths = append(paths, fmt.Sprintf("%s: %q", path, value))
		}
	}
	slices.Sort(paths)
	return paths
}
