package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// maxSpec is the largest spec that is rendered, in bytes of JSON. The CRD does not bound
// every map in it. It is the limit of Kubernetes for annotations.
const maxSpec = 256 << 10

// definition validates Darkrooms against the CRD with the libraries of the Kubernetes API:
// the schema with its limits, unique items of sets and maps, and CEL rules.
type definition struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// newDefinition reads a CRD in YAML.
func newDefinition(raw []byte) (*definition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, crd); err != nil {
		return nil, fmt.Errorf("read CRD: %w", err)
	}
	at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == v1alpha1.GroupVersion.Version
	})
	if at < 0 || crd.Spec.Versions[at].Schema == nil {
		return nil, errors.New("read CRD: no schema for " + v1alpha1.GroupVersion.Version)
	}
	props := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[at].Schema.OpenAPIV3Schema, props, nil)
	if err != nil {
		return nil, fmt.Errorf("convert schema of CRD: %w", err)
	}
	out := &definition{}
	if out.structural, err = structuralschema.NewStructural(props); err != nil {
		return nil, fmt.Errorf("read schema of CRD: %w", err)
	}
	if out.schema, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, fmt.Errorf("read schema of CRD: %w", err)
	}
	out.rules = cel.NewValidator(out.structural, true, celconfig.PerCallLimit)
	return out, nil
}

// check returns the validation errors of the Kubernetes API as a problem. Each step bounds
// the cost of the next one.
func (d *definition) check(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(darkroom)
	if err != nil {
		return fmt.Errorf("convert Darkroom: %w", err)
	}
	// The status is ignored in requests.
	delete(object, "status")
	object["apiVersion"], object["kind"] = v1alpha1.GroupVersion.String(), v1alpha1.Kind
	raw, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode Darkroom: %w", err)
	}
	if len(raw) > maxSpec {
		return problem.New(http.StatusUnprocessableEntity, fmt.Sprintf("the Darkroom is too large to render: %d bytes, limit %d", len(raw), maxSpec))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, d.structural)
	defaulting.Default(object, d.structural)
	errs := validation.ValidateCustomResource(nil, object, d.schema)
	if len(errs) == 0 {
		errs = apivalidation.ValidateObjectMeta(&darkroom.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, d.structural, object)...)
	}
	if len(errs) == 0 {
		errs, _ = d.rules.Validate(ctx, nil, d.structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(errs) == 0 {
		return nil
	}
	invalid := apierrors.NewInvalid(v1alpha1.GroupVersionKind.GroupKind(), darkroom.Name, errs)
	return wire.FromKubernetes(invalid, wire.Redactor(darkroom))
}
