package render

import (
	"encoding/json"
	"fmt"
	"sync"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/revision"
)

// Renderer renders releases.
type Renderer struct {
	capabilities *chartutil.Capabilities
	// cluster is the digest of the capabilities.
	cluster digest.Digest

	mu     sync.Mutex
	charts map[*chart.Chart]chartFacts
}

// Memory is the last rendering of one release, which only one goroutine may use at a time. The
// zero value is empty.
type Memory struct {
	// source is the digest of the inputs.
	source digest.Digest
	// release is nil if the rendering is compact.
	release *helmrelease.Release
	// manifest is the identity of the manifest of a compact one.
	manifest string
}

func (m *Memory) isCompact() bool { return m.release == nil }

func (m *Memory) isEmpty() bool { return m.release == nil && m.manifest == "" }

// chartFacts are computed once for each chart.
type chartFacts struct {
	schema valueSchema
	digest digest.Digest
}

// NewRenderer returns a renderer for a cluster.
func NewRenderer(capabilities *chartutil.Capabilities) *Renderer {
	return &Renderer{
		capabilities: capabilities,
		cluster:      digest.Of(capabilities),
		charts:       map[*chart.Chart]chartFacts{},
	}
}

// Render returns the release of a chart with values. Parts below the top level are shared
// and must not be changed.
func (r *Renderer) Render(chrt *chart.Chart, key types.NamespacedName, values map[string]any, memory *Memory) (*helmrelease.Release, error) {
	if err := r.render(chrt, key, values, memory, false); err != nil {
		return nil, err
	}
	return revision.Copy(memory.release), nil
}

// Preview returns the identity of the manifest of the release that Render would return.
func (r *Renderer) Preview(chrt *chart.Chart, key types.NamespacedName, values map[string]any, memory *Memory) (string, error) {
	if err := r.render(chrt, key, values, memory, true); err != nil {
		return "", err
	}
	if memory.isCompact() {
		return memory.manifest, nil
	}
	return digest.Identity(memory.release.Manifest), nil
}

// render renders a release unless the last rendering had the same inputs. That may be compact
// if it is for a preview.
func (r *Renderer) render(chrt *chart.Chart, key types.NamespacedName, values map[string]any, memory *Memory, preview bool) error {
	raw, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("render release %s: values are not JSON: %w", key, err)
	}
	facts, err := r.factsOf(chrt)
	if err != nil {
		return err
	}
	source := r.sourceOf(facts, raw)
	if !memory.isEmpty() && memory.source == source && (preview || !memory.isCompact()) {
		return nil
	}
	rendered, err := render(chrt, facts.schema, key, values, r.capabilities)
	if err != nil {
		return err
	}
	*memory = Memory{source: source, release: rendered}
	return nil
}

// sourceOf returns a digest of the inputs of a rendering: chart, capabilities, values, and
// this program, whose functions the templates call.
func (r *Renderer) sourceOf(facts chartFacts, values []byte) digest.Digest {
	return digest.Sum([]byte(buildID()), facts.digest[:], r.cluster[:], values)
}

func (r *Renderer) factsOf(chrt *chart.Chart) (chartFacts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, found := r.charts[chrt]; found {
		return known, nil
	}
	schema, err := compileSchema(chrt)
	if err != nil {
		return chartFacts{}, err
	}
	facts := chartFacts{schema: schema, digest: digest.Of([]any{chrt.Metadata, chrt.Values, chrt.Templates, chrt.Files})}
	r.charts[chrt] = facts
	return facts, nil
}

// Compact reduces the rendering of a deployed release to what is needed to detect changes.
func (m *Memory) Compact() {
	if m.release != nil {
		m.manifest, m.release = digest.Identity(m.release.Manifest), nil
	}
}

// Source returns the digest of the inputs of the rendering with a manifest, given by its
// identity; nil if it is not known, or if the program has no build ID.
func (m *Memory) Source(manifest string) *digest.Digest {
	if m.manifest != manifest || buildID() == "" {
		return nil
	}
	source := m.source
	return &source
}

// Recall sets the rendering that another process recorded, unless there is one.
func (m *Memory) Recall(source *digest.Digest, manifest string) {
	if source != nil && buildID() != "" && m.isEmpty() {
		*m = Memory{source: *source, manifest: manifest}
	}
}
