package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

func TestTheLastProbesAreMetrics(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		registry := prometheus.NewPedanticRegistry()
		if err := registry.Register(w.prober); err != nil {
			t.Fatal(err)
		}
		w.answer(photos, served)
		w.set(photos)
		w.set(shop) // has no answer yet, so there is nothing to report
		w.expect("two", 1, "photos/cat@0", "shop/cat@0")
		w.prober.mu.Lock()
		w.prober.targets[photos].duration = 1500 * time.Millisecond
		w.prober.mu.Unlock()
		compare := func(want map[string]float64) {
			t.Helper()
			if diff := cmp.Diff(want, gathered(t, registry)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		compare(map[string]float64{"darkroom_probe_success of team-a/photos": 1, "darkroom_probe_duration_seconds of team-a/photos": 1.5})
		w.answer(photos, denied)
		w.pass(60)
		w.prober.mu.Lock()
		w.prober.targets[photos].duration = 1500 * time.Millisecond
		w.prober.mu.Unlock()
		compare(map[string]float64{"darkroom_probe_success of team-a/photos": 0, "darkroom_probe_duration_seconds of team-a/photos": 1.5})
	})
}

// gathered returns all samples of a registry: name and Darkroom → value.
func gathered(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range metric.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			out[family.GetName()+" of "+labels["namespace"]+"/"+labels["name"]] = metric.GetGauge().GetValue()
		}
	}
	return out
}

func TestTheMetricsAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"darkroom_probe_success", "darkroom_probe_duration_seconds"} {
		if !strings.Contains(string(page), "| `"+name+"` | gauge | `namespace`, `name` |") {
			t.Errorf("docs/metrics.md has no row of %s", name)
		}
	}
}
