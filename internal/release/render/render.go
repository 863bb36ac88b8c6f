// Package render renders the release of a Darkroom from the chart and its values, without requests to the cluster. The
// result equals the output of `helm template`.
package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/types"
)

// CheckChart rejects charts that this package would not install as Helm does: charts with a crds folder or with
// subcharts. The operator calls it once at startup.
func CheckChart(chrt *Chart) error {
	if err := chrt.Validate(); err != nil {
		return fmt.Errorf("chart %s: %w", chrt.Name(), err)
	}
	if len(chrt.Metadata.Dependencies) > 0 || len(chrt.Dependencies()) > 0 {
		return fmt.Errorf(
			"chart %s: subcharts are not supported, because Helm modifies them during rendering and all Darkrooms share one chart",
			chrt.Name(),
		)
	}
	if len(chrt.CRDObjects()) > 0 {
		return fmt.Errorf("chart %s: a crds folder is not supported; install CRDs with the operator", chrt.Name())
	}
	return nil
}

// Chart is a chart as Helm loads it.
type Chart = chart.Chart

// Capabilities describes the cluster for which a chart is rendered.
type Capabilities struct {
	// Version is the version of Kubernetes, such as v1.36.0.
	Version string
	// APIVersions are the API versions that the cluster serves in addition to the built-in ones.
	APIVersions []string
}

// Renderer renders releases of one chart for one cluster.
type Renderer struct {
	chart       *chart.Chart
	schema      *jsonschema.Schema // nil if the chart has none
	kubeVersion *chartutil.KubeVersion
	apiVersions []string
}

// NewRenderer returns a renderer. It fails if the schema of the chart cannot be compiled or the version of the cluster
// cannot be parsed.
func NewRenderer(chrt *Chart, capabilities Capabilities) (*Renderer, error) {
	version, err := chartutil.ParseKubeVersion(capabilities.Version)
	if err != nil {
		return nil, fmt.Errorf("parse Kubernetes version %q: %w", capabilities.Version, err)
	}
	schema, err := compileSchema(chrt)
	return &Renderer{chrt, schema, version, capabilities.APIVersions}, err
}

// Render renders one release of a chart with a new Renderer.
func Render(
	chrt *Chart, key types.NamespacedName, values map[string]any, capabilities Capabilities,
) (*helmrelease.Release, error) {
	renderer, err := NewRenderer(chrt, capabilities)
	if err != nil {
		return nil, err
	}
	return renderer.Render(key, values)
}

// Render returns the release with the given values.
func (r *Renderer) Render(key types.NamespacedName, values map[string]any) (*helmrelease.Release, error) {
	if err := r.validate(values); err != nil {
		return nil, fmt.Errorf("render release %s: %w", key, err)
	}
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.ReleaseName = key.Name
	install.Namespace = key.Namespace
	install.ClientOnly = true
	install.DryRun = true
	install.DisableOpenAPIValidation = true
	install.SkipSchemaValidation = true // done above
	install.KubeVersion = r.kubeVersion
	install.APIVersions = r.apiVersions

	rendered, err := install.Run(r.chart, values)
	if err != nil {
		return nil, fmt.Errorf("render release %s: %w", key, err)
	}
	for _, hook := range rendered.Hooks {
		for _, event := range hook.Events {
			if event != helmrelease.HookTest {
				return nil, fmt.Errorf("render release %s: %s is a %s hook: only test hooks are supported", key, hook.Path, event)
			}
		}
	}
	// Only fields that Helm's commands read. Encoding templates, schema and README into every revision would cost more
	// than rendering.
	rendered.Labels = commonLabels(values)
	rendered.Chart = &chart.Chart{Metadata: r.chart.Metadata, Values: r.chart.Values}
	return rendered, nil
}

// commonLabels returns the labels that all objects of the release have. Helm's driver also sets them on the Secret of
// the revision, because a policy may require them.
func commonLabels(values map[string]any) map[string]string {
	common, _ := values["commonLabels"].(map[string]any)
	labels := map[string]string{}
	for key, value := range common {
		labels[key], _ = value.(string)
	}
	return labels
}

// compileSchema compiles values.schema.json once. Helm uses the same library but compiles the schema for each
// rendering. The result is nil if the chart has no schema.
func compileSchema(chrt *chart.Chart) (*jsonschema.Schema, error) {
	if chrt.Schema == nil {
		return nil, nil //nolint:nilnil // see above
	}
	const name = "file:///values.schema.json"
	compiler := jsonschema.NewCompiler()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(chrt.Schema))
	if err == nil {
		err = compiler.AddResource(name, document)
	}
	if err != nil {
		return nil, fmt.Errorf("read values.schema.json of chart %s: %w", chrt.Name(), err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile values.schema.json of chart %s: %w", chrt.Name(), err)
	}
	return compiled, nil
}

// validate checks values merged with the defaults of the chart, as Helm does.
func (r *Renderer) validate(values map[string]any) error {
	if r.schema == nil {
		return nil
	}
	coalesced, err := chartutil.CoalesceValues(r.chart, values)
	if err != nil {
		return err
	}
	if err := r.schema.Validate(coalesced.AsMap()); err != nil {
		// The first line only contains the name of the file.
		_, findings, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("values don't meet the specifications of the schema(s) of chart %s:\n%s", r.chart.Name(), findings)
	}
	return nil
}
