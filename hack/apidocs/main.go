// Command apidocs generates docs/api.md, the reference of a CustomResourceDefinition, from its schema. So the page
// documents exactly what the API server enforces, including the messages of the CEL rules. (elastic/crd-ref-docs 0.3.0
// reads the Go types instead. It omits all CEL rules, and the defaults of the marker +default.)
//
//	apidocs CRD.yaml > docs/api.md
package main

import (
	"fmt"
	"io"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "apidocs:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("want one file with a CustomResourceDefinition, but got %q", args)
	}
	raw, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(raw, &definition); err != nil {
		return fmt.Errorf("read %s: %w", args[0], err)
	}
	page, err := render(definition)
	if err != nil {
		return fmt.Errorf("describe %s: %w", args[0], err)
	}
	_, err = io.WriteString(out, page)
	return err
}
