package charts

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// A number, quantity or word at the end of a field's description, which is the field's default.
var documentedDefault = regexp.MustCompile(`Defaults to ([0-9A-Za-z]+( million)?)\.$`)

// The defaults of the gate are chart values; the descriptions of spec.gate repeat them.
func TestDescriptionsOfTheGateHaveTheDefaultsOfTheChart(t *testing.T) {
	var crd apiextensionsv1.CustomResourceDefinition
	var values struct {
		Gate map[string]any `json:"gate"`
	}
	for file, to := range map[string]any{
		"../config/crd/bases/deployments.example.com_darkrooms.yaml": &crd,
		"darkroom/values.yaml": &values,
	} {
		text, err := os.ReadFile(file)
		if err == nil {
			err = yaml.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	quantity := func(text string) int64 {
		parsed, err := resource.ParseQuantity(strings.ReplaceAll(text, " million", "M"))
		if err != nil {
			return -1
		}
		return parsed.Value()
	}
	compared := 0
	var walk func(path string, schema apiextensionsv1.JSONSchemaProps, values map[string]any)
	walk = func(path string, schema apiextensionsv1.JSONSchemaProps, values map[string]any) {
		for name, property := range schema.Properties {
			value := values[name]
			if below, ok := value.(map[string]any); ok {
				walk(path+"."+name, property, below)
			}
			description := strings.Join(strings.Fields(property.Description), " ")
			if found := documentedDefault.FindStringSubmatch(description); found != nil {
				compared++
				number, isNumber := value.(float64)
				if isNumber && quantity(found[1]) != int64(number) || !isNumber && fmt.Sprint(value) != found[1] {
					t.Errorf("%s.%s: %q, but %v in the chart", path, name, found[0], value)
				}
			}
		}
	}
	walk("spec.gate", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["gate"], values.Gate)
	if compared < 6 {
		t.Errorf("only %d fields have a documented default", compared)
	}
}
