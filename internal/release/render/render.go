// Package render renders the release of a Darkroom from the chart and its values, without
// asking the cluster anything. The result equals the output of `helm template`.
package render

import (
	"fmt"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/types"
)

// CheckChart refuses a chart that this package would not install as Helm does:
// one with hooks other than tests, or with subcharts. The operator calls it once
// at its start.
func CheckChart(chrt *chart.Chart) error {
	if err := chrt.Validate(); err != nil {
		return fmt.Errorf("chart %s: %w", chrt.Name(), err)
	}
	if len(chrt.Metadata.Dependencies) > 0 || len(chrt.Dependencies()) > 0 {
		return fmt.Errorf("chart %s: subcharts are not supported: Helm changes them while it renders, and all Darkrooms share one chart", chrt.Name())
	}
	if len(chrt.CRDObjects()) > 0 {
		return fmt.Errorf("chart %s: a folder crds is not supported: install CRDs beside the operator", chrt.Name())
	}
	return nil
}

// Render renders a release of chart with values, for a cluster of the given
// capabilities, without asking a cluster anything. Both the operator and the
// template command go through it.
func Render(chrt *chart.Chart, key types.NamespacedName, values map[string]any, capabilities *chartutil.Capabilities) (*helmrelease.Release, error) {
	schema, err := compileSchema(chrt)
	if err != nil {
		return nil, err
	}
	return render(chrt, schema, key, values, capabilities)
}

func render(chrt *chart.Chart, schema valueSchema, key types.NamespacedName, values map[string]any, capabilities *chartutil.Capabilities) (*helmrelease.Release, error) {
	if err := schema.validate(chrt, values); err != nil {
		return nil, fmt.Errorf("render release %s: %w", key, err)
	}
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.ReleaseName = key.Name
	install.Namespace = key.Namespace
	install.ClientOnly = true
	install.DryRun = true
	install.DisableOpenAPIValidation = true
	install.SkipSchemaValidation = true // done above
	install.KubeVersion = &capabilities.KubeVersion
	install.APIVersions = capabilities.APIVersions

	rendered, err := install.Run(chrt, values)
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
	rendered.Chart = stored(chrt)
	return rendered, nil
}

// stored returns the parts of a chart that are stored with each release: those that Helm's
// commands read. Encoding templates, schema and README with every revision would cost more
// than rendering.
func stored(chrt *chart.Chart) *chart.Chart {
	return &chart.Chart{Metadata: chrt.Metadata, Values: chrt.Values}
}
