package apiserver_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// fault is an invalid value for a field of a body; nil means that the field is missing.
type fault struct {
	field string
	value any
}

// wrongValues returns values that a schema rejects: values of another type, out of bounds, or too long. A wrong value
// of an inner field is the only field in its object or list.
func wrongValues(schema *apiextensionsv1.JSONSchemaProps) (out []any) {
	if schema.XIntOrString {
		return []any{"1 GB", true}
	}
	if schema.Maximum != nil {
		out = append(out, *schema.Maximum+1)
	}
	if schema.MaxLength != nil {
		out = append(out, strings.Repeat("x", int(*schema.MaxLength)+1))
	}
	if len(schema.Enum) > 0 {
		out = append(out, "Nope")
	}
	switch schema.Type {
	case "string":
		out = append(out, 7, "\x01 ?;=:")
	case "array":
		for _, inner := range wrongValues(schema.Items.Schema) {
			out = append(out, []any{inner})
		}
		if most := ptr.Deref(schema.MaxItems, 0); most > 0 {
			out = append(out, slices.Repeat([]any{"x"}, int(most)+1))
		}
		out = append(out, "x")
	case "object":
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			inner := schema.Properties[name]
			for _, value := range wrongValues(&inner) {
				out = append(out, map[string]any{name: value})
			}
		}
		out = append(out, []any{}, map[string]any{"unknown": 1})
	default:
		out = append(out, "x")
	}
	return out
}

// faultsOf returns faults for each field of a body, among them violations of the CRD's rules.
func faultsOf(t *testing.T) map[string][]any {
	t.Helper()
	schema, err := definition.Schema()
	expect.NoError(t, err)
	spec := schema.Properties["spec"]
	out := map[string][]any{
		"name":        {nil, "", "9lives", "photos-", strings.Repeat("a", 54), 7},
		"namespace":   {"no/where", strings.Repeat("a", 64), 7},
		"labels":      {map[string]any{"a": "b c"}, map[string]any{"a": 1}},
		"annotations": {map[string]any{"a b": ""}, []any{}},
		"unknown":     {1},
	}
	for name, field := range spec.Properties {
		out[name] = wrongValues(&field)
	}
	for _, rule := range []fault{
		{"source", map[string]any{}},
		{"source", map[string]any{"type": "S3", "bucket": "b"}},
		{"source", map[string]any{"type": "S3", "bucket": "b", "region": "r", "accessKey": "k"}},
		{"source", map[string]any{"baseUrl": "example.com"}},
		{"subDomains", nil},
		{"subDomains", []any{}},
		{"subDomains", []any{"a", "a"}},
		{"subDomains", []any{"A"}},
		{"autoscaling", map[string]any{"minReplicas": 3, "maxReplicas": 2}},
		{"additionalSources", []any{map[string]any{"name": "a", "baseUrl": "https://example.com"}}},
		{"probe", map[string]any{"path": "cat.jpg"}},
		{"probe", map[string]any{"path": "/cat.jpg", "timeoutSeconds": 30, "periodSeconds": 20}},
		{"extraEnv", []any{map[string]any{"name": "DEBUG", "value": "1"}}},
		{"metrics", map[string]any{"serviceMonitor": true}},
		{"gate", map[string]any{"onlyPresets": true}},
	} {
		out[rule.field] = append(out[rule.field], rule.value)
	}
	return out
}

// Users should see all errors of a Darkroom at once: an error that is reported for one field is also reported if other
// fields are invalid. For bodies that cannot be decoded, only the decoder's errors are reported.
func TestNoErrorHidesAnotherOne(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	refused := func(faults ...fault) (locations []string, decoded bool) {
		body := map[string]any{
			"name": "photos", "namespace": namespace, "subDomains": []string{"photos"}, "gate": map[string]any{},
			"source": map[string]any{"baseUrl": "https://example.com"},
		}
		for _, fault := range faults {
			body[fault.field] = fault.value
			if fault.value == nil {
				delete(body, fault.field)
			}
		}
		raw, err := json.Marshal(body)
		expect.NoError(t, err)
		got := s.call(token, "POST", "/darkrooms?dryRun=All", string(raw))
		if got.status == http.StatusCreated {
			return nil, true
		}
		if got.status != http.StatusUnprocessableEntity {
			t.Fatalf("%s: got status %s", raw, got)
		}
		refusal := problemOf(t, got)
		for _, field := range refusal.Errors {
			locations = append(locations, field.Location)
		}
		return locations, !strings.HasPrefix(refusal.Detail, "the body is invalid")
	}
	faults := faultsOf(t)
	fields := slices.Sorted(maps.Keys(faults))
	rapid.Check(t, func(r *rapid.T) {
		var drawn []fault
		var want []string
		for _, field := range rapid.SliceOfNDistinct(rapid.SampledFrom(fields), 2, 5, rapid.ID[string]).Draw(r, "fields") {
			values := faults[field]
			one := fault{field, values[rapid.IntRange(0, len(values)-1).Draw(r, field)]}
			if locations, decoded := refused(one); decoded {
				drawn, want = append(drawn, one), append(want, locations...)
			}
		}
		got, _ := refused(drawn...)
		for _, location := range want {
			if !slices.Contains(got, location) {
				r.Fatalf("%v: the errors are at %q, but not at %s", drawn, got, location)
			}
		}
	})
}
