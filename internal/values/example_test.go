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
	_, err = translator.Values(darkrooms.New("photos", "team-a").SubDomains("Cats").Version("v 1").Obj())
	fmt.Println(err)
	// Output:
	// Darkroom "photos" is invalid: spec.version: Invalid value: "v 1": must be a version such as 0.4.2 or an image tag; spec.subDomains[0]: Invalid value: "Cats": must be a DNS name: labels of lower-case letters, digits and '-', joined by dots, for example photos or img.photos
}
