package drift

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

var brakeObject = manifest.Key{GroupKind: schema.GroupKind{Kind: "Service"}, Name: "photos"}

// newMemory returns a memory and a fake clock.
func newMemory() (*Memory, *clocktesting.FakePassiveClock) {
	return &Memory{}, clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
}

// fight simulates a writer that changes an object every second. It repairs the object whenever allowed, and returns the
// number of repairs.
func fight(memory *Memory, clock *clocktesting.FakePassiveClock, length time.Duration) int {
	repairs := 0
	for range int(length / time.Second) {
		clock.SetTime(clock.Now().Add(time.Second))
		if memory.Held(brakeObject, clock.Now()) {
			continue
		}
		repairs++
		memory.Repaired(brakeObject, "rival", clock.Now())
	}
	return repairs
}

func TestAFightSlowsDown(t *testing.T) {
	memory, clock := newMemory()
	if repairs := fight(memory, clock, time.Minute); repairs < ContestedAfter || repairs > 6 {
		t.Errorf("got %d repairs in the first minute, want 4 to 6", repairs)
	}
	if repairs := fight(memory, clock, time.Hour); repairs > 12 {
		t.Errorf("got %d repairs in the following hour, want at most 12", repairs)
	}
	holds := memory.Holds(clock.Now())
	if len(holds) != 1 || !holds[0].Contested || holds[0].Writer != "rival" || holds[0].Object != brakeObject {
		t.Errorf("got holds %+v", holds)
	}
}

// The first repairs are immediate. Each later repair doubles the delay before the next one, up to a maximum.
func TestEachRepairDoublesTheTimeUntilTheNext(t *testing.T) {
	memory, clock := newMemory()
	for i, want := range []time.Duration{0, 0, 0, 15, 30, 60, 120, 240, 480, 600, 600, 600} {
		hold, held := memory.Repaired(brakeObject, "rival", clock.Now())
		if want *= time.Second; held != (want > 0) || held && hold.Until.Sub(clock.Now()) != want {
			t.Errorf("repair %d: held: %t, until %s at %s; want %s", i+1, held, hold.Until, clock.Now(), want)
		}
		clock.SetTime(clock.Now().Add(want))
	}
	// The contest lasts until the object has been left alone for brakeRelease.
	clock.SetTime(clock.Now().Add(brakeRelease - brakeMost))
	if _, held := memory.Repaired(brakeObject, "rival", clock.Now()); !held {
		t.Error("the contest ended too early")
	}
	clock.SetTime(clock.Now().Add(brakeRelease + time.Second))
	if _, held := memory.Repaired(brakeObject, "rival", clock.Now()); held {
		t.Error("the contest did not end")
	}
}

// Objects disappear from a manifest after an edit, or because others delete them before the operator does.
func TestOnlyDesiredObjectsAreHeld(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		memory, clock := newMemory()
		keys := rapid.SliceOfNDistinct(rapid.Map(rapid.StringMatching("[a-e]"), func(name string) manifest.Key {
			return manifest.Key{GroupKind: schema.GroupKind{Kind: "Service"}, Name: name}
		}), 1, 5, rapid.ID[manifest.Key]).Draw(t, "objects")
		for _, key := range keys {
			for range rapid.IntRange(0, 2*ContestedAfter).Draw(t, "repairs") {
				memory.Repaired(key, "", clock.Now())
			}
		}
		desired := keys[:rapid.IntRange(0, len(keys)).Draw(t, "desired")]
		objects := make([]*unstructured.Unstructured, len(desired))
		for i, key := range desired {
			objects[i] = newStored("v1", key.Kind, key.Name).Unstructured
		}
		memory.Desire(objects)
		for _, hold := range memory.Holds(clock.Now()) {
			if !slices.Contains(desired, hold.Object) {
				t.Fatalf("%s is held but not desired", hold.Object)
			}
		}
		for _, key := range keys[len(desired):] {
			if hold := memory.holds[key]; hold != nil {
				t.Fatalf("%d repairs of %s are remembered", hold.Repairs, key)
			}
		}
	})
}

func TestAnObjectAtRestIsRepairedAtOnceAgain(t *testing.T) {
	memory, clock := newMemory()
	fight(memory, clock, 10*time.Minute)
	clock.SetTime(clock.Now().Add(brakeMost))
	if holds := memory.Holds(clock.Now()); len(holds) != 0 {
		t.Errorf("got holds %+v after the last one ended", holds)
	}
	clock.SetTime(clock.Now().Add(brakeRelease))
	if _, contested := memory.Repaired(brakeObject, "", clock.Now()); contested || memory.Held(brakeObject, clock.Now()) {
		t.Error("the first repair after a quiet period delays the next one")
	}
}

// Other clients may annotate an object as often as they like without starting a contest.
func TestAppliesThatChangeNothingSlowDown(t *testing.T) {
	memory, clock := newMemory()
	applies := 0
	for range 1000 {
		clock.SetTime(clock.Now().Add(10 * time.Millisecond))
		if !memory.Held(brakeObject, clock.Now()) {
			memory.Confirmed(brakeObject, clock.Now())
			applies++
		}
		if !memory.Held(brakeObject, clock.Now()) {
			t.Fatalf("not held after %d applies", applies)
		}
	}
	if applies > 15 {
		t.Errorf("got %d applies in 10 s, want at most 15", applies)
	}
	holds := memory.Holds(clock.Now())
	if len(holds) != 1 || holds[0].Contested || holds[0].Until.Sub(clock.Now()) > quietPeriod {
		t.Fatalf("got holds %+v at %s", holds, clock.Now())
	}
	clock.SetTime(holds[0].Until)
	if memory.Held(brakeObject, clock.Now()) {
		t.Error("the object is still held")
	}
}

// The status must stop reporting a contest once an apply changes nothing.
func TestAppliesThatChangeNothingAreNoContest(t *testing.T) {
	memory, clock := newMemory()
	fight(memory, clock, time.Minute)
	for range 1000 {
		clock.SetTime(clock.Now().Add(time.Second / 2))
		if !memory.Held(brakeObject, clock.Now()) {
			memory.Confirmed(brakeObject, clock.Now())
		}
	}
	memory.Confirmed(brakeObject, clock.Now())
	if holds := memory.Holds(clock.Now()); len(holds) != 1 || holds[0].Contested {
		t.Errorf("got holds %+v", holds)
	}
}

func TestOccasionalRepairsAreNotHeld(t *testing.T) {
	memory, clock := newMemory()
	for range ContestedAfter - 1 {
		_, contested := memory.Repaired(brakeObject, "kubectl-edit", clock.Now())
		if contested || memory.Held(brakeObject, clock.Now()) {
			t.Fatal("an early repair is held")
		}
	}
}
