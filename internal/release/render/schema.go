package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// valueSchema checks values as Helm does, by values.schema.json and with the same
// library. Helm compiles it for each rendering; here it is compiled once.
type valueSchema struct {
	compiled *jsonschema.Schema // nil if the chart has none
}

func compileSchema(chrt *chart.Chart) (valueSchema, error) {
	if chrt.Schema == nil {
		return valueSchema{}, nil
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(chrt.Schema))
	if err != nil {
		return valueSchema{}, fmt.Errorf("read values.schema.json of chart %s: %w", chrt.Name(), err)
	}
	const name = "file:///values.schema.json"
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, document); err != nil {
		return valueSchema{}, fmt.Errorf("read values.schema.json of chart %s: %w", chrt.Name(), err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return valueSchema{}, fmt.Errorf("compile values.schema.json of chart %s: %w", chrt.Name(), err)
	}
	return valueSchema{compiled}, nil
}

// validate checks values of the chart, its defaults laid under them.
func (s valueSchema) validate(chrt *chart.Chart, values map[string]any) error {
	if s.compiled == nil {
		return nil
	}
	coalesced, err := chartutil.CoalesceValues(chrt, values)
	if err != nil {
		return err
	}
	if err := s.compiled.Validate(coalesced.AsMap()); err != nil {
		// The first line names the file only.
		_, findings, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("values don't meet the specifications of the schema(s) of chart %s:\n%s", chrt.Name(), findings)
	}
	return nil
}
