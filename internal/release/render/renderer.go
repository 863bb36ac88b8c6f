package render

import (
	"encoding/json"
	"fmt"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/revision"
)

// Renderer renders releases of a chart for a cluster.
type Renderer struct {
	chart        *chart.Chart
	schema       valueSchema
	capabilities *chartutil.Capabilities
}

// Memory is the last rendering of one release by one Renderer, which only one goroutine may use
// at a time. The zero value is empty.
type Memory struct {
	// values is the digest of the values.
	values digest.Digest
	// release is nil if the rendering is compact.
	release *helmrelease.Release
	// manifest is the identity of the manifest of a compact one.
	manifest string
}

// NewRenderer returns a renderer of a chart for a cluster. It fails if the schema of the chart
// cannot be compiled.
func NewRenderer(chrt *chart.Chart, capabilities *chartutil.Capabilities) (*Renderer, error) {
	schema, err := compileSchema(chrt)
	return &Renderer{chrt, schema, capabilities}, err
}

// Render returns the release with some values. Parts below the top level are shared and must
// not be changed.
func (r *Renderer) Render(key types.NamespacedName, values map[string]any, memory *Memory) (*helmrelease.Release, error) {
	if err := r.render(key, values, memory, false); err != nil {
		return nil, err
	}
	return revision.Copy(memory.release), nil
}

// Preview returns the identity of the manifest of the release that Render would return.
func (r *Renderer) Preview(key types.NamespacedName, values map[string]any, memory *Memory) (string, error) {
	if err := r.render(key, values, memory, true); err != nil {
		return "", err
	}
	if memory.release == nil {
		return memory.manifest, nil
	}
	return digest.Identity(memory.release.Manifest), nil
}

// render renders a release unless the last rendering had the same values. That may be compact if
// it is for a preview.
func (r *Renderer) render(key types.NamespacedName, values map[string]any, memory *Memory, preview bool) error {
	raw, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("render release %s: values are not JSON: %w", key, err)
	}
	sum := digest.Sum(raw)
	isCompact := memory.manifest != ""
	if memory.values == sum && (memory.release != nil || isCompact && preview) {
		return nil
	}
	rendered, err := render(r.chart, r.schema, key, values, r.capabilities)
	if err != nil {
		return err
	}
	*memory = Memory{values: sum, release: rendered}
	return nil
}

// Compact reduces the rendering of a deployed release to what is needed to detect changes.
func (m *Memory) Compact() {
	if m.release != nil {
		m.manifest, m.release = digest.Identity(m.release.Manifest), nil
	}
}
