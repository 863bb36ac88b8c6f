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

// Renderer renders releases and caches the last result of each.
type Renderer struct {
	capabilities *chartutil.Capabilities
	// cluster is the digest of the capabilities.
	cluster digest.Digest

	mu     sync.Mutex
	last   map[types.NamespacedName]rendering
	charts map[*chart.Chart]chartFacts
}

// rendering is a release with the digest of its inputs.
type rendering struct {
	source digest.Digest
	// release is nil if the rendering is compact.
	release *helmrelease.Release
	// manifest is the identity of the manifest of a compact one.
	manifest string
}

func (r rendering) isCompact() bool { return r.release == nil }

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
		last:         map[types.NamespacedName]rendering{},
		charts:       map[*chart.Chart]chartFacts{},
	}
}

// Render returns the release of a chart with values. Parts below the top level are shared
// and must not be changed.
func (r *Renderer) Render(chrt *chart.Chart, key types.NamespacedName, values map[string]any) (*helmrelease.Release, error) {
	rendered, err := r.render(chrt, key, values, false)
	if err != nil {
		return nil, err
	}
	return revision.Copy(rendered.release), nil
}

// Preview returns the summary of the release that Render would return. Its Info is empty if
// the cached rendering is compact.
func (r *Renderer) Preview(chrt *chart.Chart, key types.NamespacedName, values map[string]any) (*helmrelease.Release, error) {
	rendered, err := r.render(chrt, key, values, true)
	if err != nil {
		return nil, err
	}
	if rendered.isCompact() {
		return &helmrelease.Release{
			Name: key.Name, Namespace: key.Namespace, Manifest: rendered.manifest, Info: &helmrelease.Info{},
		}, nil
	}
	return revision.Summary(rendered.release), nil
}

// render returns the rendering of a release, which may be compact if it is for a preview.
func (r *Renderer) render(chrt *chart.Chart, key types.NamespacedName, values map[string]any, preview bool) (rendering, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return rendering{}, fmt.Errorf("render release %s: values are not JSON: %w", key, err)
	}
	facts, err := r.factsOf(chrt)
	if err != nil {
		return rendering{}, err
	}
	source := r.sourceOf(facts, raw)

	r.mu.Lock()
	have, found := r.last[key]
	r.mu.Unlock()
	if found && have.source == source && (preview || !have.isCompact()) {
		return have, nil
	}

	rendered, err := render(chrt, facts.schema, key, values, r.capabilities)
	if err != nil {
		return rendering{}, err
	}
	now := rendering{source: source, release: rendered}
	r.mu.Lock()
	r.last[key] = now
	r.mu.Unlock()
	return now, nil
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

// Compact reduces the cached rendering of a deployed release to what is needed to detect
// changes.
func (r *Renderer) Compact(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have, found := r.last[key]
	if !found || have.isCompact() {
		return
	}
	r.last[key] = rendering{source: have.source, manifest: digest.Identity(have.release.Manifest)}
}

// Source returns the digest of the inputs of the rendering with a manifest, given by its
// identity; nil if it is not known, or if the program has no build ID.
func (r *Renderer) Source(key types.NamespacedName, manifest string) *digest.Digest {
	r.mu.Lock()
	defer r.mu.Unlock()
	have, found := r.last[key]
	if !found || have.manifest != manifest || buildID() == "" {
		return nil
	}
	return &have.source
}

// Recall caches the recorded rendering of another process, unless the cache has one.
func (r *Renderer) Recall(key types.NamespacedName, source *digest.Digest, manifest string) {
	if source == nil || buildID() == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, found := r.last[key]; found {
		return
	}
	r.last[key] = rendering{source: *source, manifest: manifest}
}

// Forget drops the cached rendering of a release.
func (r *Renderer) Forget(key types.NamespacedName) {
	r.mu.Lock()
	delete(r.last, key)
	r.mu.Unlock()
}
