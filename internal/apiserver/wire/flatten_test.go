package wire

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// full is the sample that has all fields, with write-only ones and each integer as large as it can be.
func full(t *testing.T) *v1alpha1.Darkroom {
	t.Helper()
	darkroom, err := manifests.ReadDarkroom(filepath.Join("..", "..", "..", "config", "samples", "darkroom-full.yaml"))
	expect.NoError(t, err)
	darkroom.Spec.ExtraEnv = append(darkroom.Spec.ExtraEnv, corev1.EnvVar{Name: "LITERAL", Value: "literal-value"})
	darkroom.Spec.AdditionalSources = []v1alpha1.AdditionalSource{{Name: "old", Fallback: true, Source: v1alpha1.Source{
		Type: v1alpha1.S3, Bucket: "b", Region: "r", AccessKey: "access", SecretKey: "secret",
	}}}
	darkroom.Spec.PodTemplate.Tolerations = []corev1.Toleration{{TolerationSeconds: ptr.To[int64](1)}}
	maximize(reflect.ValueOf(&darkroom.Spec).Elem())
	applied, err := json.Marshal(darkroom)
	expect.NoError(t, err)
	darkroom.Labels = map[string]string{"example.com/team": "cats"}
	darkroom.Annotations = map[string]string{
		"example.com/team": "cats", corev1.LastAppliedConfigAnnotation: "applied", "kapp.k14s.io/original": string(applied),
		"example.com/note": `{"kind":1}`,
	}
	return darkroom
}

// maximize sets the integers in a value, other than in quantities, to the largest ones.
func maximize(value reflect.Value) {
	switch value.Kind() {
	case reflect.Int32, reflect.Int64:
		value.SetInt(1<<(value.Type().Bits()-1) - 1)
	case reflect.Pointer:
		if !value.IsNil() {
			maximize(value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			maximize(value.Index(i))
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Field(i).CanSet() && value.Type() != reflect.TypeFor[resource.Quantity]() {
				maximize(value.Field(i))
			}
		}
	}
}

// TestAResponseThatIsSentBackChangesNothing uses the sample that has all fields. An empty patch changes nothing either.
func TestAResponseThatIsSentBackChangesNothing(t *testing.T) {
	darkroom := full(t)
	response, err := json.Marshal(Flatten(darkroom))
	expect.NoError(t, err)
	text := string(response)
	if strings.Contains(text, "kapp") || strings.Contains(text, "literal-value") ||
		!strings.Contains(text, "example.com/note") {
		t.Errorf("the response is %s", text)
	}
	decoder := NewDecoder()
	for _, c := range []struct {
		body   []byte
		before any
	}{{response, nil}, {[]byte("{}"), Flatten(darkroom)}} {
		input, err := decoder.Decode(c.body, c.before)
		expect.NoError(t, err)
		if after := Expand(input, darkroom); !apiequality.Semantic.DeepEqual(after, darkroom) {
			t.Errorf("it becomes\n%+v\nof\n%+v", after, darkroom)
		}
	}
}

// TestAPatchOfNullRemovesTheField patches each field with null: the field is removed, or the patch is refused.
func TestAPatchOfNullRemovesTheField(t *testing.T) {
	darkroom := full(t)
	before := Flatten(darkroom)
	decoder := NewDecoder()
	fieldsOf := func(body any) map[string]any {
		raw, err := json.Marshal(body)
		expect.NoError(t, err)
		fields, err := object(raw)
		expect.NoError(t, err)
		return fields
	}
	removed := 0
	var walk func(fields map[string]any, path ...string)
	walk = func(fields map[string]any, path ...string) {
		for name, value := range fields {
			at := append(slices.Clone(path), name)
			if inner, isObject := value.(map[string]any); isObject {
				walk(inner, at...)
			}
			var patch any
			for _, part := range slices.Backward(at) {
				patch = map[string]any{part: patch}
			}
			raw, err := json.Marshal(patch)
			expect.NoError(t, err)
			input, err := decoder.Decode(raw, before)
			if err != nil {
				continue
			}
			after, found, _ := unstructured.NestedFieldNoCopy(fieldsOf(Flatten(Expand(input, darkroom))), at...)
			if removed++; found {
				t.Errorf("a patch of %s leaves %v", raw, after)
			}
		}
	}
	all := fieldsOf(before)
	for _, field := range append(readOnly, "name", "namespace") {
		delete(all, field)
	}
	delete(all["source"].(map[string]any), "credentials")
	walk(all)
	if removed < 50 {
		t.Errorf("%d fields are removed", removed)
	}
}

// TestBodiesHaveTheFieldsOfTheResource checks that bodies have no field for credentials, and that all fields are
// described.
func TestBodiesHaveTheFieldsOfTheResource(t *testing.T) {
	registry := NewRegistry()
	InputOf(registry)
	registry.Schema(reflect.TypeFor[Darkroom](), true, "")
	registry.Schema(reflect.TypeFor[RevisionSettings](), true, "")
	expect.NoError(t, Describe(registry))
	darkroom, err := definition.Schema()
	expect.NoError(t, err)
	spec, status := darkroom.Properties["spec"], darkroom.Properties["status"]
	additional := *spec.Properties["additionalSources"].Items.Schema
	source, variable := spec.Properties["source"], spec.Properties["extraEnv"].Items.Schema
	for body, c := range map[string]struct {
		resource apiextensionsv1.JSONSchemaProps
		without  []string
	}{
		"DarkroomInput":         {resource: spec},
		"Darkroom":              {resource: spec},
		"RevisionSettings":      {resource: spec},
		"SourceInput":           {resource: source},
		"Source":                {source, []string{"accessKey", "secretKey"}},
		"AdditionalSourceInput": {resource: additional},
		"AdditionalSource":      {additional, []string{"accessKey", "secretKey"}},
		"EnvVarInput":           {resource: *variable},
		"EnvVar":                {*variable, []string{"value"}},
		"Status":                {status, []string{"selector", "deployedRelease"}},
	} {
		raw, err := json.Marshal(registry.Map()[body])
		expect.NoError(t, err)
		schema := struct {
			Properties map[string]struct{ Description string }
		}{}
		expect.NoError(t, json.Unmarshal(raw, &schema))
		for field := range c.resource.Properties {
			property, has := schema.Properties[field]
			if has == slices.Contains(c.without, field) {
				t.Errorf("%s has %s: %t", body, field, has)
			}
			if has && property.Description == "" && !strings.HasPrefix(body, "EnvVar") {
				t.Errorf("%s.%s is not described", body, field)
			}
		}
	}
}

// TestResponsesHideKeys checks this even if keys get into the embedded types.
func TestResponsesHideKeys(t *testing.T) {
	secret := v1alpha1.Source{AccessKey: "secret", SecretKey: "secret"}
	additional := v1alpha1.AdditionalSource{Source: secret}
	spec := v1alpha1.DarkroomSpec{
		Source: secret, AdditionalSources: []v1alpha1.AdditionalSource{additional},
		ExtraEnv: []corev1.EnvVar{{Name: "A", Value: "secret"}},
	}
	for _, body := range []any{
		Darkroom{DarkroomSpec: spec},
		RevisionSettings{DarkroomSpec: spec},
		Source{Source: secret},
		AdditionalSource{AdditionalSource: additional},
	} {
		if raw, err := json.Marshal(body); err != nil || strings.Contains(string(raw), "secret") {
			t.Errorf("the response is %s, %v", raw, err)
		}
	}
}

// TestInlineKeysGoToTheServiceThatTheyWereEnteredFor checks that keys are dropped when they would be sent elsewhere.
func TestInlineKeysGoToTheServiceThatTheyWereEnteredFor(t *testing.T) {
	literal := func(name, value string) EnvVarInput { return EnvVarInput{Name: name, Value: &value} }
	for name, c := range map[string]struct {
		change func(*DarkroomInput)
		kept   bool
	}{
		"no change":                  {func(*DarkroomInput) {}, true},
		"another bucket":             {func(in *DarkroomInput) { in.Source.Bucket = "other" }, true},
		"another region":             {func(in *DarkroomInput) { in.Source.Region = "other" }, true},
		"a slash after the endpoint": {func(in *DarkroomInput) { in.Source.Endpoint += "/" }, true},
		"a variable": {
			func(in *DarkroomInput) { in.ExtraEnv = append(in.ExtraEnv, literal("MORE", "x")) },
			true,
		},
		"another type":     {func(in *DarkroomInput) { in.Source.Type = v1alpha1.GoogleCloudStorage }, false},
		"another endpoint": {func(in *DarkroomInput) { in.Source.Endpoint = "https://b.example.com" }, false},
		"no endpoint":      {func(in *DarkroomInput) { in.Source.Endpoint = "" }, false},
		"a Secret": {func(in *DarkroomInput) {
			in.Source.CredentialsSecretRef = &v1alpha1.CredentialsSecretRef{Name: "keys"}
		}, false},
		"a variable for the endpoint": {func(in *DarkroomInput) {
			in.ExtraEnv = append(in.ExtraEnv, literal("SOURCE_BUCKET_ENDPOINT", "https://b.example.com"))
		}, false},
		"a variable for the kind": {func(in *DarkroomInput) {
			in.ExtraEnv = []EnvVarInput{literal("SOURCE_KIND", "s3")}
		}, false},
		"without the variable of kind": {func(in *DarkroomInput) { in.ExtraEnv = nil }, false},
		"the endpoint from a Secret": {func(in *DarkroomInput) {
			in.ExtraEnv = append(in.ExtraEnv, EnvVarInput{Name: "SOURCE_BUCKET_ENDPOINT", ValueFrom: &corev1.EnvVarSource{}})
		}, false},
	} {
		before := &v1alpha1.Darkroom{Spec: v1alpha1.DarkroomSpec{
			Source: v1alpha1.Source{
				Type: v1alpha1.S3, Bucket: "b", Region: "r", Endpoint: "https://a.example.com",
				AccessKey: "access", SecretKey: "secret",
			},
			ExtraEnv: []corev1.EnvVar{{Name: "SOURCE_KIND", Value: "aws"}},
		}}
		input := &DarkroomInput{
			Source: SourceInput{Source: v1alpha1.Source{
				Type: v1alpha1.S3, Bucket: "b", Region: "r",
				Endpoint: "https://a.example.com",
			}},
			ExtraEnv: []EnvVarInput{{Name: "SOURCE_KIND"}},
		}
		c.change(input)
		// An additional source behaves the same; its variables contain its number.
		number := strings.NewReplacer("SOURCE_", "SOURCE_2_")
		numbered := &DarkroomInput{AdditionalSources: []AdditionalSourceInput{
			{AdditionalSource: v1alpha1.AdditionalSource{Name: "new"}},
			{AdditionalSource: v1alpha1.AdditionalSource{Name: "old", Source: input.Source.Source}},
		}}
		for _, variable := range input.ExtraEnv {
			variable.Name = number.Replace(variable.Name)
			numbered.ExtraEnv = append(numbered.ExtraEnv, variable)
		}
		was := &v1alpha1.Darkroom{Spec: v1alpha1.DarkroomSpec{
			AdditionalSources: []v1alpha1.AdditionalSource{{Name: "first"}, {Name: "old", Source: before.Spec.Source}},
			ExtraEnv:          []corev1.EnvVar{{Name: number.Replace(before.Spec.ExtraEnv[0].Name), Value: "aws"}},
		}}
		for _, source := range []v1alpha1.Source{
			Expand(input, before).Spec.Source,
			Expand(numbered, was).Spec.AdditionalSources[1].Source,
		} {
			kept := source.AccessKey == "access" && source.SecretKey == "secret"
			if kept != c.kept || !kept && source.AccessKey+source.SecretKey != "" {
				t.Errorf("%s: the keys are %q and %q", name, source.AccessKey, source.SecretKey)
			}
		}
	}
}
