// Command descriptors generates the hints that consoles use to show each field of a
// Darkroom. From the schema of a CustomResourceDefinition it writes a JSON patch for the
// base of the ClusterServiceVersion, with one descriptor for each field of spec and status.
// No field is forgotten, and each has its description from the API.
//
//	descriptors CRD.yaml > config/manifests/descriptors.yaml
package main

import (
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

const header = "# Made by hack/descriptors from the schema of the CRD; `make generate` regenerates it.\n"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "descriptors:", err)
		os.Exit(1)
	}
}

// operation is one step of a JSON patch.
type operation struct {
	Op    string       `json:"op"`
	Path  string       `json:"path"`
	Value []descriptor `json:"value"`
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("want one file with a CustomResourceDefinition, but got %q", args)
	}
	raw, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var definition crd
	if err := yaml.Unmarshal(raw, &definition); err != nil {
		return fmt.Errorf("read %s: %w", args[0], err)
	}
	if len(definition.Spec.Versions) != 1 {
		return fmt.Errorf("read %s: it has %d versions, and the patch is for one", args[0], len(definition.Spec.Versions))
	}
	root := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	patch := []operation{
		{Op: "add", Path: "/spec/customresourcedefinitions/owned/0/specDescriptors", Value: describe(root["spec"], specShows)},
		{Op: "add", Path: "/spec/customresourcedefinitions/owned/0/statusDescriptors", Value: describe(root["status"], statusShows)},
	}
	text, err := yaml.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, header+string(text))
	return err
}
