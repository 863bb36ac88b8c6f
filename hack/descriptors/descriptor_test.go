package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

const definition = "../../config/crd/bases/deployments.example.com_darkrooms.yaml"

func patchText(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if err := run([]string{definition}, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestEveryFieldHasADescriptorAndItsPath(t *testing.T) {
	text := patchText(t)
	for _, path := range []string{
		"path: source.baseUrl\n", "path: gateway.parentRefs[0].name\n", "path: podTemplate.affinity.nodeAffinity\n",
		"path: conditions\n", "path: deployedRelease.name\n",
	} {
		if !strings.Contains(text, path) {
			t.Errorf("there is no %q", path)
		}
	}
	if strings.Contains(text, "x-descriptors: []") || strings.Contains(text, "description: \"\"") {
		t.Error("a descriptor says nothing")
	}
}

func TestATableThatNamesAFieldThatIsGoneIsFoundOut(t *testing.T) {
	text := patchText(t)
	for _, table := range []map[string][]string{specShows, statusShows, sourceFields} {
		for path := range table {
			if !strings.Contains(text, "path: "+path+"\n") {
				t.Errorf("the API has no field %s", path)
			}
		}
	}
}

func TestHowAFieldIsShown(t *testing.T) {
	text := schema{Type: "string"}
	for _, test := range []struct {
		path  string
		field schema
		want  []string
	}{
		{"version", text, []string{ui + "text"}},
		{"enabled", schema{Type: "boolean"}, []string{ui + "booleanSwitch"}},
		{"level", schema{Type: "string", Enum: []any{"info", "warn"}}, []string{ui + "select:info", ui + "select:warn"}},
		{"replicas", schema{Type: "integer"}, []string{ui + "podCount"}},
	} {
		found := describe(schema{Properties: map[string]schema{test.path: test.field}}, specShows)
		if !slices.Equal(found[0].XDescriptors, test.want) {
			t.Errorf("%s is shown as %q, want %q", test.path, found[0].XDescriptors, test.want)
		}
	}
	source := describe(schema{Properties: map[string]schema{"source": {Properties: map[string]schema{"host": text}}}}, specShows)
	if want := []string{ui + "text", ui + "fieldGroup:source", ui + "fieldDependency:source.type:CloudFront"}; !slices.Equal(source[1].XDescriptors, want) {
		t.Errorf("source.host is shown as %q, want %q", source[1].XDescriptors, want)
	}
}
