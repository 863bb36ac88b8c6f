package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
)

// CheckDefinition returns an error if the CustomResourceDefinition of Darkrooms in the cluster lacks status fields that
// this operator writes. The API server would drop such fields, or refuse the whole status. Fields of the spec are not
// compared, because the operator does not need them. The schema is read from the OpenAPI documents, which every
// authenticated user may read. If they cannot be read, nothing is compared.
func CheckDefinition(ctx context.Context, api rest.Interface) error {
	lacking, err := lackingFields(ctx, openapi.NewClientWithContext(api))
	switch {
	case err != nil:
		ctrl.LoggerFrom(ctx).Info("Skipped the check of the CustomResourceDefinition", "cause", err.Error())
		return ctx.Err()
	case len(lacking) == 0:
		return nil
	}
	return fmt.Errorf(
		"the CustomResourceDefinition darkrooms.%s in the cluster is older than this operator and lacks %s: "+
			"run `kubectl apply --server-side -k config/crd` of this release, or `helm upgrade` with crds.install=true",
		v1alpha1.GroupVersion.Group, strings.Join(lacking, ", "))
}

// lackingFields returns the status fields and enum values that the definition in the cluster lacks.
func lackingFields(ctx context.Context, api openapi.ClientWithContext) ([]string, error) {
	documents, err := api.PathsWithContext(ctx)
	if err != nil {
		return nil, err
	}
	document, found := documents["apis/"+v1alpha1.GroupVersion.String()]
	if !found {
		return nil, apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("darkrooms").GroupResource(), "")
	}
	raw, err := document.SchemaWithContext(ctx, "application/json")
	if err != nil {
		return nil, err
	}
	served, err := servedSchema(raw)
	if err != nil {
		return nil, err
	}
	wanted, err := definition.Schema()
	if err != nil {
		return nil, err
	}
	return lacks("status", wanted.Properties["status"], served.Properties["status"]), nil
}

// servedSchema finds the schema of Darkrooms in an OpenAPI document.
func servedSchema(document []byte) (found apiextensionsv1.JSONSchemaProps, err error) {
	var served struct {
		Components struct {
			Schemas map[string]apiextensionsv1.JSONSchemaProps
		}
	}
	if err := json.Unmarshal(document, &served); err != nil {
		return found, fmt.Errorf("read the OpenAPI document of %s: %w", v1alpha1.GroupVersion, err)
	}
	for name, schema := range served.Components.Schemas {
		if strings.HasSuffix(name, "."+v1alpha1.Kind) {
			return schema, nil
		}
	}
	return found, fmt.Errorf("the OpenAPI document of %s has no Darkrooms", v1alpha1.GroupVersion)
}

// lacks returns the sorted paths of fields and enum values that are in wanted but not in served.
func lacks(path string, wanted, served apiextensionsv1.JSONSchemaProps) []string {
	var paths []string
	for name, field := range wanted.Properties {
		if other, found := served.Properties[name]; found {
			paths = append(paths, lacks(path+"."+name, field, other)...)
		} else if !ptr.Deref(served.XPreserveUnknownFields, false) {
			paths = append(paths, path+"."+name)
		}
	}
	if wanted.Items != nil && served.Items != nil {
		paths = append(paths, lacks(path+"[]", *wanted.Items.Schema, *served.Items.Schema)...)
	}
	for _, value := range wanted.Enum {
		if len(served.Enum) > 0 && !slices.ContainsFunc(served.Enum,
			func(other apiextensionsv1.JSON) bool { return string(other.Raw) == string(value.Raw) }) {
			paths = append(paths, fmt.Sprintf("%s: %s", path, value.Raw))
		}
	}
	slices.Sort(paths)
	return paths
}
