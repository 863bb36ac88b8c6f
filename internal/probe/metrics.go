package probe

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Sample is the last probe of a Darkroom, as metrics report it.
type Sample struct {
	// Served reports whether the probe was served its image.
	Served bool
	// Duration is the time that the probe took.
	Duration time.Duration
}

// Last returns the last probe of a Darkroom, and whether there was one. Only the leader
// probes, so it has none anywhere else.
func (p *Prober) Last(key types.NamespacedName) (Sample, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, found := p.targets[key]
	if !found || !e.probed {
		return Sample{}, false
	}
	return Sample{Served: e.last.Served(), Duration: e.duration}, true
}
