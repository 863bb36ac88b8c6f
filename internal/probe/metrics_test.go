package probe

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestTheLastProbeIsReported(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		expect := func(key types.NamespacedName, want Sample, wantProbed bool) {
			t.Helper()
			if got, probed := w.prober.Last(key); got != want || probed != wantProbed {
				t.Errorf("%s: got %+v, %t, want %+v, %t", key, got, probed, want, wantProbed)
			}
		}
		took := func(duration time.Duration) {
			w.prober.mu.Lock()
			w.prober.targets[photos].duration = duration
			w.prober.mu.Unlock()
		}
		expect(photos, Sample{}, false)
		w.answer(photos, served)
		w.set(photos)
		w.set(shop) // has no answer yet, so there is nothing to report
		w.expect("two", 1, "photos/cat@0", "shop/cat@0")
		took(1500 * time.Millisecond)
		expect(photos, Sample{Served: true, Duration: 1500 * time.Millisecond}, true)
		expect(shop, Sample{}, false)

		w.answer(photos, denied)
		w.pass(60)
		took(time.Second)
		expect(photos, Sample{Duration: time.Second}, true)

		w.prober.Remove(photos)
		expect(photos, Sample{}, false)
	})
}
