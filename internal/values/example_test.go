package values_test

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

func ExampleTranslator_Values() {
	translator, err := values.New(values.Options{BaseDomain: "img.example.com"})
	if err != nil {
		panic(err)
	}
	chartValues, err := translator.Values(darkrooms.New("photos", "team-a").SubDomains("cats").Obj())
	if err != nil {
		panic(err)
	}
	text, err := yaml.Marshal(chartValues)
	if err != nil {
		panic(err)
	}
	fmt.Print(string(text))
	// Output:
	// commonLabels:
	//   deployments.example.com/darkroom: photos
	// fullnameOverride: photos
	// hosts:
	// - cats.img.example.com
	// replicaCount: 1
	// source:
	//   baseUrl: https://pictures.example.org/assets
	//   type: WebFolder
}

// A Darkroom that cannot be translated is reported with all its invalid fields.
func ExampleInvalidError() {
	translator, err := values.New(values.Options{})
	if err != nil {
		panic(err)
	}
	_, err = translator.Values(darkrooms.New("photos", "team-a").DefaultParam("a b", "1").Env("MY NOTE", "x").Obj())
	fmt.Println(err)
	// Output:
	// Darkroom "photos" is invalid: spec.defaultParams[a b]: Invalid value: "1": names may contain letters, digits, '-' and '_' (at most 64); spec.extraEnv[0].name: Invalid value: "MY NOTE": must be the name of a variable: letters, digits, '_', '.' and '-', not starting with a digit
}
