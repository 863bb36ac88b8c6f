// Package definition validates Darkrooms as the API server would, for previews and for reviews of manifests that are
// not applied yet.
package definition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/config/crd"
)

// Definition validates Darkrooms by their CRD with the libraries of the Kubernetes API: the schema with its limits,
// unique items of sets and maps, and CEL rules. It is safe for concurrent use.
type Definition struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// Schema returns the schema of Darkrooms in the CRD of this version of the operator.
func Schema() (*apiextensionsv1.JSONSchemaProps, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(crd.Darkrooms, definition); err != nil {
		return nil, fmt.Errorf("read CRD: %w", err)
	}
	at := slices.IndexFunc(definition.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == v1alpha1.GroupVersion.Version
	})
	if at < 0 || definition.Spec.Versions[at].Schema == nil {
		return nil, errors.New("read CRD: no schema for " + v1alpha1.GroupVersion.Version)
	}
	return definition.Spec.Versions[at].Schema.OpenAPIV3Schema, nil
}

// New returns the definition in the CRD of this version of the operator. It is compiled once in a process.
func New() (*Definition, error) { return compiled() }

var compiled = sync.OnceValues(compile)

func compile() (*Definition, error) {
	schema, err := Schema()
	if err != nil {
		return nil, err
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, props, nil); err != nil {
		return nil, fmt.Errorf("convert schema of CRD: %w", err)
	}
	out := &Definition{}
	if out.structural, err = structuralschema.NewStructural(props); err != nil {
		return nil, fmt.Errorf("read schema of CRD: %w", err)
	}
	if out.schema, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, fmt.Errorf("read schema of CRD: %w", err)
	}
	out.rules = cel.NewValidator(out.structural, true, celconfig.PerCallLimit)
	return out, nil
}

// Check returns all validation errors of the Kubernetes API as one error with the reason Invalid; nil if there are
// none. The Kubernetes API skips CEL rules if there are other errors. Check evaluates them nevertheless, but truncates
// values to the limits of the schema, which bounds the cost.
func (d *Definition) Check(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(darkroom)
	if err != nil {
		return fmt.Errorf("convert Darkroom: %w", err)
	}
	// Requests cannot set the status.
	delete(object, "status")
	object["apiVersion"], object["kind"] = v1alpha1.GroupVersion.String(), v1alpha1.Kind
	defaulting.PruneNonNullableNullsWithoutDefaults(object, d.structural)
	defaulting.Default(object, d.structural)
	errs := validation.ValidateCustomResource(nil, object, d.schema)
	errs = append(errs, apivalidation.ValidateObjectMeta(&darkroom.ObjectMeta, true,
		apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	if len(errs) > 0 {
		_ = unstructured.SetNestedField(object, darkroom.Name, "metadata", "name") // rules read the name even if it is empty
		object, _ = withinLimits(object, d.structural).(map[string]any)
	}
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, d.structural, object)...)
	broken, _ := d.rules.Validate(ctx, nil, d.structural, object, nil, celconfig.RuntimeCELCostBudget)
	errs = append(errs, broken...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(v1alpha1.GroupVersionKind.GroupKind(), darkroom.Name, errs)
}

// Read returns a Darkroom of any version of the CRD as the API server would return it with this version, and the paths
// of fields that would be dropped. It modifies the object.
func (d *Definition) Read(object map[string]any) (darkroom *v1alpha1.Darkroom, dropped []string, err error) {
	dropped = pruning.PruneWithOptions(object, d.structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	dropped = slices.DeleteFunc(dropped, func(path string) bool { return strings.HasPrefix(path, "status.") })
	defaulting.Default(object, d.structural)
	darkroom = &v1alpha1.Darkroom{}
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(object, darkroom)
	return darkroom, dropped, err
}
