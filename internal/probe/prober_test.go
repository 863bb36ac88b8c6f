package probe

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

var (
	served = Outcome{Reason: v1alpha1.ReasonImageServed, Message: "served", StatusCode: 200}
	denied = Outcome{Reason: v1alpha1.ReasonSourceDenied, Message: "denied", StatusCode: 403}
	absent = Outcome{Reason: v1alpha1.ReasonImageNotFound, Message: "absent", StatusCode: 404}
	silent = Outcome{Reason: v1alpha1.ReasonUnreachable, Message: "silent"}
)

var (
	photos = types.NamespacedName{Namespace: "team-a", Name: "photos"}
	shop   = types.NamespacedName{Namespace: "team-b", Name: "shop"}
)

// world contains a prober and the Darkrooms that it probes, in a synctest bubble: time advances when the prober has
// nothing else to do.
type world struct {
	t      *testing.T
	prober *Prober
	began  time.Time

	mu sync.Mutex
	// answers are the outcomes of probes by Darkroom. A probe of a Darkroom without an outcome waits until it is
	// canceled.
	answers map[types.NamespacedName]Outcome
	// probed lists the probes so far, with the seconds at which they began.
	probed []string
	// changed is the number of changes so far.
	changed int
	// underway and most are the current and the maximum number of concurrent probes.
	underway, most int
}

// inWorld starts a prober in a new world, runs a test, and stops the prober. The test fails if a goroutine is still
// running then, because synctest waits for all goroutines in the bubble.
func inWorld(t *testing.T, concurrency int, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, began: time.Now(), answers: map[types.NamespacedName]Outcome{}}
		w.prober = New(Options{Probe: w.probe, Concurrency: concurrency, Random: func() float64 { return 0 }})
		w.prober.Changed = func(...types.NamespacedName) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.changed++
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.prober.Start(ctx) }()
		test(w)
		before := w.changed
		cancel()
		if err := <-ended; err != nil || w.underway != 0 || w.changed != before {
			t.Errorf("the prober ended with %v, %d probes outlived it, and %d results changed", err,
				w.underway, w.changed-before)
		}
	})
}

func (w *world) probe(ctx context.Context, key types.NamespacedName, target Target) Outcome {
	w.mu.Lock()
	w.probed = append(w.probed, fmt.Sprintf("%s%s@%v", key.Name, target.Path, time.Since(w.began).Seconds()))
	w.underway++
	w.most = max(w.most, w.underway)
	answer, found := w.answers[key]
	w.mu.Unlock()
	if !found {
		<-ctx.Done()
		answer = silent
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.underway--
	return answer
}

// answer sets the outcome of a Darkroom's later probes.
func (w *world) answer(key types.NamespacedName, outcome Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[key] = outcome
}

// pass advances the time and waits until everything that is due has happened.
func (w *world) pass(seconds int) {
	time.Sleep(time.Duration(seconds) * time.Second)
	synctest.Wait()
}

func (w *world) set(key types.NamespacedName, changes ...func(*Target)) {
	w.prober.Set(key, cat(append([]func(*Target){func(t *Target) { t.Path = "/cat" }}, changes...)...))
	synctest.Wait()
}

// expect compares the probes since the last call, and the number of changes.
func (w *world) expect(why string, changes int, probes ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if diff := cmp.Diff(probes, w.probed); diff != "" {
		w.t.Errorf("%s: probes (-want +got):\n%s", why, diff)
	}
	if w.changed != changes {
		w.t.Errorf("%s: %d changes, want %d", why, w.changed, changes)
	}
	w.probed, w.changed = nil, 0
}

func (w *world) result(why string, key types.NamespacedName, want metav1.ConditionStatus, outcome Outcome) {
	w.t.Helper()
	if diff := cmp.Diff(Result{want, outcome}, w.prober.Result(key)); diff != "" {
		w.t.Errorf("%s: result (-want +got):\n%s", why, diff)
	}
}

func TestADarkroomIsProbedAtOnceAndThenOnceInAPeriod(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		w.result("before it is set", photos, metav1.ConditionUnknown, Outcome{})
		w.answer(photos, served)
		w.set(photos)
		w.expect("at once", 1, "photos/cat@0")
		w.result("at once", photos, metav1.ConditionTrue, served)
		w.pass(30)
		w.set(photos)
		w.expect("the same target again changes nothing", 0)
		w.pass(95)
		w.expect("nothing has changed since", 0, "photos/cat@60", "photos/cat@120")
	})
}

func TestFailuresCountOnlyWhenTheyLast(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		w.answer(photos, served)
		w.set(photos)
		w.expect("served", 1, "photos/cat@0")

		w.answer(photos, denied)
		if last, probed := w.prober.Last(photos); !probed || !last.Served {
			t.Errorf("the last probe is %+v", last)
		}
		w.pass(120)
		if last, probed := w.prober.Last(photos); !probed || last.Served {
			t.Errorf("the last probe is %+v", last)
		}
		w.expect("two failures of three", 0, "photos/cat@60", "photos/cat@120")
		w.result("two failures of three", photos, metav1.ConditionTrue, served)

		w.answer(photos, served)
		w.pass(60)
		w.answer(photos, denied)
		w.pass(120)
		w.expect("a success between starts the count again", 0, "photos/cat@180", "photos/cat@240", "photos/cat@300")

		w.pass(60)
		w.expect("three of three", 1, "photos/cat@360")
		w.result("three of three", photos, metav1.ConditionFalse, denied)
		w.pass(180)
		w.expect("and it stays so", 0, "photos/cat@420", "photos/cat@480", "photos/cat@540")

		w.answer(photos, served)
		w.pass(60)
		w.expect("one success is enough", 1, "photos/cat@600")
		w.result("one success is enough", photos, metav1.ConditionTrue, served)
	})
}

func TestTheFirstResultIsFoundWithinSecondsAndItsReasonChangesOnlyWhenThatLasts(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		w.answer(photos, denied)
		w.set(photos)
		w.pass(5)
		w.result("two failures", photos, metav1.ConditionUnknown, Outcome{})
		w.pass(5)
		w.expect("three failures", 1, "photos/cat@0", "photos/cat@5", "photos/cat@10")
		w.result("three failures", photos, metav1.ConditionFalse, denied)
		w.pass(60)
		w.expect("then in the usual period", 0, "photos/cat@70")

		for range 4 {
			w.answer(photos, absent)
			w.pass(60)
			w.answer(photos, denied)
			w.pass(60)
		}
		w.probed = nil
		w.expect("two causes that alternate", 0)
		w.answer(photos, absent)
		w.pass(180)
		w.probed = nil
		w.expect("another cause for good", 1)
		w.result("another cause for good", photos, metav1.ConditionFalse, absent)
	})
}

func TestAChangedTargetIsProbedAtOnce(t *testing.T) {
	dog := func(t *Target) { t.Path = "/dog" }
	for name, test := range map[string]struct {
		change  func(*Target)
		probe   string
		status  metav1.ConditionStatus
		history Outcome
	}{
		"another period of the same pods": {
			func(t *Target) { t.Period = 20 * time.Second }, "photos/cat@30",
			metav1.ConditionTrue, served,
		},
		"another path": {dog, "photos/dog@30", metav1.ConditionUnknown, Outcome{}},
		"other pods":   {func(t *Target) { t.Revision = "2" }, "photos/cat@30", metav1.ConditionUnknown, Outcome{}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 2, func(w *world) {
				w.answer(photos, served)
				w.set(photos)
				w.pass(30)
				w.expect("first", 1, "photos/cat@0")
				w.answer(photos, denied)
				w.set(photos, test.change)
				w.expect("at once", 0, test.probe)
				w.result("only the same pods keep their history", photos, test.status, test.history)
			})
		})
	}
}

func TestAChangeEndsTheProbeUnderWayAndItsOutcomeDoesNotCount(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		w.set(photos) // does not respond
		w.expect("under way", 0, "photos/cat@0")
		w.answer(photos, served)
		w.set(photos, func(t *Target) { t.Path = "/dog" })
		w.expect("not waited for", 1, "photos/dog@0")
		w.result("the new one counts", photos, metav1.ConditionTrue, served)
		w.pass(60)
		w.expect("and only it goes on", 0, "photos/dog@60")
	})
}

func TestARemovedDarkroomIsNotProbedAndForgotten(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		w.answer(photos, served)
		w.set(photos)
		w.set(shop) // does not respond
		w.probed, w.changed = nil, 0
		for _, key := range []types.NamespacedName{photos, shop, {Name: "unknown"}} {
			w.prober.Remove(key)
			w.prober.Remove(key)
			w.result("removed", key, metav1.ConditionUnknown, Outcome{})
		}
		w.pass(200)
		w.expect("removed", 0)
		if _, probed := w.prober.Last(photos); probed || len(w.prober.targets) != 0 || w.underway != 0 {
			t.Errorf("something is left: %+v", w.prober)
		}
	})
}

// TestDarkroomsWithoutAnAnswerDoNotHoldUpOthers uses ten Darkrooms that never respond and one that does. Without the
// limit, they would take all four concurrent probes.
func TestDarkroomsWithoutAnAnswerDoNotHoldUpOthers(t *testing.T) {
	inWorld(t, 4, func(w *world) {
		short := func(t *Target) { t.Period, t.FailureThreshold = 10*time.Second, 1 }
		keys := make([]types.NamespacedName, 10)
		for i := range keys {
			keys[i] = types.NamespacedName{Name: fmt.Sprint("dead-", i)}
			w.answer(keys[i], silent)
			w.set(keys[i], short)
		}
		w.mu.Lock()
		for _, key := range keys {
			delete(w.answers, key) // from now on they do not respond
		}
		w.mu.Unlock()
		w.pass(10)
		if w.underway != 2 {
			t.Errorf("%d probes of hanging Darkrooms are under way, want half of 4", w.underway)
		}
		w.probed, w.changed = nil, 0
		w.answer(photos, served)
		w.set(photos, short)
		w.pass(20)
		w.expect("in time", 1, "photos/cat@10", "photos/cat@20", "photos/cat@30")
		for i := range 10 {
			w.set(types.NamespacedName{Name: fmt.Sprint("new-", i)})
		}
		if w.most != 4 {
			t.Errorf("%d probes at one time, want 4", w.most)
		}
	})
}

func TestProbesOfAFleetAreSpread(t *testing.T) {
	prober, e := New(Options{}), &entry{target: cat(), result: Result{Status: metav1.ConditionTrue}}
	var pauses []time.Duration
	for range 200 {
		pauses = append(pauses, prober.pause(e))
	}
	least, most := slices.Min(pauses), slices.Max(pauses)
	if least < 54*time.Second || most > 60*time.Second || most-least < 3*time.Second {
		t.Errorf("pauses from %s to %s, want them spread over 54 s to 60 s", least, most)
	}
}
