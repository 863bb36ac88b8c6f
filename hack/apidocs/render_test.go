package main

import (
	"strings"
	"testing"
)

func TestChecksAreSaidInSentences(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		field schema
		want  string
	}{
		"nothing to check":     {schema{Type: "string"}, ""},
		"default and enum":     {schema{Default: "a", Enum: []any{"a", "b"}}, "Default: `a`. One of `a`, `b`."},
		"bounds":               {schema{Minimum: number(0), Maximum: number(9)}, "From 0 to 9."},
		"least":                {schema{Minimum: number(1)}, "At least 1."},
		"length":               {schema{MinLength: 1, MaxLength: 63}, "Not empty. At most 63 characters."},
		"rule":                 {schema{Rules: []rule{{Message: "must be <x>|y"}}}, `Must be &lt;x&gt;\|y.`},
		"list and its entries": {schema{MinItems: 1, MaxItems: 4, ListType: "set", Items: &schema{MaxLength: 5}}, "From 1 to 4 entries. No duplicates. Each: At most 5 characters."},
		"rules of an object":   {schema{Properties: map[string]schema{"a": {}}, Rules: []rule{{Message: "x"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(checks(c.field), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAFieldThatIsGoneIsAnError(t *testing.T) {
	var definition crd
	definition.Spec.Versions = []version{{Name: "v1"}}
	if _, err := render(definition); err == nil || !strings.Contains(err.Error(), "kubernetesTypes") {
		t.Errorf("a link of kubernetesTypes without a field must be an error, not %v", err)
	}
}
