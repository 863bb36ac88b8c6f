package explain

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// TestParametersAreThoseOfTheDefinition compares the parameters with the ones that gate.limits.parameters allows. The
// parameter preset cannot be forbidden.
func TestParametersAreThoseOfTheDefinition(t *testing.T) {
	schema, err := definition.Schema()
	expect.NoError(t, err)
	for _, field := range []string{"spec", "gate", "limits", "parameters"} {
		property := schema.Properties[field]
		schema = &property
	}
	want := []string{"preset"}
	for _, name := range schema.Items.Schema.Enum {
		var text string
		expect.NoError(t, json.Unmarshal(name.Raw, &text))
		want = append(want, text)
	}
	slices.Sort(want)
	if !slices.Equal(parameters, want) {
		t.Errorf("the parameters are %q, want %q", parameters, want)
	}
}
