package wire

import (
	"errors"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func TestMessagesWithoutValues(t *testing.T) {
	for message, want := range map[string]string{
		`Required value: needed`:                                            `Required value: needed`,
		`Invalid value: "sec\"ret": must be short`:                          `Invalid value: must be short`,
		`Invalid value: -1: spec.replicas in body should be more`:           `Invalid value: should be more`,
		`Invalid value: "": spec.a in body should be at least 1 chars long`: `Invalid value: must not be empty`,
		`Unsupported value: "loud": supported values: "a", "b"`:             `Unsupported value: supported values: "a", "b"`,
		`Invalid value: "object": rule broken: see "x": and so on`:          `Invalid value: rule broken: see "x": and so on`,
	} {
		if got := withoutValue(message); got != want {
			t.Errorf("%s becomes %s, want %s", message, got, want)
		}
	}
}

// rulesOf calls see with the message of each rule of a schema.
func rulesOf(schema *apiextensionsv1.JSONSchemaProps, see func(message string)) {
	for _, rule := range schema.XValidations {
		see(rule.Message)
	}
	for _, inner := range schema.Properties {
		rulesOf(&inner, see)
	}
	if schema.Items != nil {
		rulesOf(schema.Items.Schema, see)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		rulesOf(schema.AdditionalProperties.Schema, see)
	}
}

func TestEveryMessageOfTheCRDIsWhole(t *testing.T) {
	schema, err := definition.Schema()
	expect.NoError(t, err)
	values := []any{
		field.OmitValueType{},
		"", "object", `a "quoted": text`, "a: b", "\x00\u00e9", int64(-1), 1.5, true, nil,
		map[string]any{"a": []any{"b: c", 1}},
		[]any{},
	}
	rules := 0
	rulesOf(schema, func(message string) {
		rules++
		for _, value := range values {
			for _, err := range []*field.Error{
				field.Invalid(nil, value, message), field.Duplicate(nil, value), field.Required(nil, message),
				field.Forbidden(nil, message),
			} {
				want := err.Type.String()
				if err.Detail != "" {
					want += ": " + err.Detail
				}
				if err.Type == field.ErrorTypeDuplicate {
					err.Detail, want = message, want+": "+message
				}
				if got := withoutValue(err.ErrorBody()); got != want {
					t.Errorf("%s becomes %s, want %s", err.ErrorBody(), got, want)
				}
			}
		}
	})
	if rules < 50 {
		t.Errorf("the CRD has %d rules", rules)
	}
}

func TestARefusedNameHasItsRule(t *testing.T) {
	rules, err := definition.New()
	expect.NoError(t, err)
	err = FromKubernetes(rules.Check(t.Context(), darkrooms.New(strings.Repeat("a", 63), "photos").Obj()), AsIs)
	var refusal *problem.Details
	if !errors.As(err, &refusal) {
		t.Fatalf("the error is %v", err)
	}
	expect.Equal(t, "the errors", []problem.Field{{
		Location: "body.name",
		Message:  "Invalid value: metadata.name must be no longer than 53 characters: it becomes the name of a Helm release",
	}}, refusal.Errors)
}
