package crd_test

import (
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/config/crd"
)

// TestQuantitiesHaveShortExponents checks all quantities in the schema: the library of Kubernetes computes with all
// digits of an exponent, in the operator, in the API server, and in rules of the CRD, and does not finish.
func TestQuantitiesHaveShortExponents(t *testing.T) {
	var schema any
	if err := yaml.Unmarshal(crd.Darkrooms, &schema); err != nil {
		t.Fatal(err)
	}
	found := 0
	walk(schema, "", func(path string, field map[string]any) {
		if field["x-kubernetes-int-or-string"] != true {
			return
		}
		pattern, _ := field["pattern"].(string)
		if pattern == "" {
			return // Not a quantity, but for example a port.
		}
		found++
		accepts := regexp.MustCompile(pattern).MatchString
		for _, text := range []string{"1", "1.5Gi", "500m", "1e3", "1E99", "1e-9", ".5", "+1k"} {
			if !accepts(text) {
				t.Errorf("%s refuses %s", path, text)
			}
		}
		for _, text := range []string{"1e100", "1e999999999", "1e2147483648", "1e-999999999", "1.5e99999999", "1e1.5", "1e.5"} {
			if accepts(text) {
				t.Errorf("%s accepts %s", path, text)
			}
		}
	})
	if found < 9 {
		t.Errorf("the schema has %d quantities", found)
	}
}

func walk(node any, path string, visit func(path string, field map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		visit(strings.ReplaceAll(path, ".properties", ""), node)
		for name, inner := range node {
			walk(inner, path+"."+name, visit)
		}
	case []any:
		for _, inner := range node {
			walk(inner, path, visit)
		}
	}
}
