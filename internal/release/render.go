package release

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
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
	install.Labels = map[string]string{v1alpha1.LabelDarkroom: key.Name}

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

// stored is what of a chart is kept with each release: what Helm's commands read of
// it. The operator renders from the chart that it was built with; to encode
// templates, schema and README with every revision would cost more than to render.
func stored(chrt *chart.Chart) *chart.Chart {
	return &chart.Chart{Metadata: chrt.Metadata, Values: chrt.Values}
}

// Renderer is Render with a memory of the last result of each release.
type Renderer struct {
	capabilities func() *chartutil.Capabilities

	mu      sync.Mutex
	last    map[types.NamespacedName]rendering
	schemas map[*chart.Chart]valueSchema
}

type rendering struct {
	chart        *chart.Chart
	capabilities *chartutil.Capabilities
	values       [sha256.Size]byte
	release      *helmrelease.Release
	// compact tells that the release is a summary.
	compact bool
}

// isOf tells whether two renderings are of the same chart, capabilities and values.
func (r rendering) isOf(other rendering) bool {
	return r.chart == other.chart && r.capabilities == other.capabilities && r.values == other.values
}

// NewRenderer returns a renderer for the cluster whose capabilities the function
// returns. The function returns the same pointer while nothing has changed.
func NewRenderer(capabilities func() *chartutil.Capabilities) *Renderer {
	return &Renderer{
		capabilities: capabilities,
		last:         map[types.NamespacedName]rendering{},
		schemas:      map[*chart.Chart]valueSchema{},
	}
}

// Render returns a copy of the release that chart and values make. Parts below
// the top level are shared and must not be changed.
func (r *Renderer) Render(chrt *chart.Chart, key types.NamespacedName, values map[string]any) (*helmrelease.Release, error) {
	rendered, err := r.render(chrt, key, values, false)
	if err != nil {
		return nil, err
	}
	return copyRelease(rendered.release), nil
}

// Preview returns the summary of what Render would return.
func (r *Renderer) Preview(chrt *chart.Chart, key types.NamespacedName, values map[string]any) (*helmrelease.Release, error) {
	rendered, err := r.render(chrt, key, values, true)
	if err != nil {
		return nil, err
	}
	if rendered.compact {
		return copyRelease(rendered.release), nil
	}
	return summary(rendered.release), nil
}

// render returns the rendering of a release, which may be compact if it is for a preview.
func (r *Renderer) render(chrt *chart.Chart, key types.NamespacedName, values map[string]any, preview bool) (rendering, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return rendering{}, fmt.Errorf("render release %s: values are not JSON: %w", key, err)
	}
	want := rendering{chart: chrt, capabilities: r.capabilities(), values: sha256.Sum256(raw)}

	r.mu.Lock()
	have, found := r.last[key]
	r.mu.Unlock()
	if found && have.isOf(want) && (preview || !have.compact) {
		return have, nil
	}

	schema, err := r.schemaOf(chrt)
	if err != nil {
		return rendering{}, err
	}
	want.release, err = render(chrt, schema, key, values, want.capabilities)
	if err != nil {
		return rendering{}, err
	}
	r.mu.Lock()
	r.last[key] = want
	r.mu.Unlock()
	return want, nil
}

func (r *Renderer) schemaOf(chrt *chart.Chart) (valueSchema, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, found := r.schemas[chrt]; found {
		return known, nil
	}
	compiled, err := compileSchema(chrt)
	if err == nil {
		r.schemas[chrt] = compiled
	}
	return compiled, err
}

// Compact keeps of a release that is deployed only what tells whether it still is
// what is wanted.
func (r *Renderer) Compact(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have, found := r.last[key]
	if !found || have.compact {
		return
	}
	have.release = summary(have.release)
	have.compact = true
	r.last[key] = have
}

// Forget drops what is remembered of a release.
func (r *Renderer) Forget(key types.NamespacedName) {
	r.mu.Lock()
	delete(r.last, key)
	r.mu.Unlock()
}

// copyRelease copies the parts of a release that this package changes.
func copyRelease(in *helmrelease.Release) *helmrelease.Release {
	out := *in
	info := *in.Info
	out.Info = &info
	return &out
}
