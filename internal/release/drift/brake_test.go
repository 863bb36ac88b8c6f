package drift

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

var (
	brakeKey    = types.NamespacedName{Namespace: "shop", Name: "photos"}
	brakeObject = manifest.Key{GroupKind: schema.GroupKind{Kind: "Service"}, Name: "photos"}
)

// fight repairs an object whenever that is allowed, which another writer changes every
// second, and returns how often.
func fight(memory *Memory, clock *clocktesting.FakePassiveClock, length time.Duration) int {
	repairs := 0
	for range int(length / time.Second) {
		clock.SetTime(clock.Now().Add(time.Second))
		if memory.Held(brakeKey, brakeObject) {
			continue
		}
		repairs++
		memory.Repaired(brakeKey, brakeObject, "rival")
	}
	return repairs
}

func TestAFightSlowsDown(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	memory := New(clock)
	if repairs := fight(memory, clock, time.Minute); repairs < ContestedAfter || repairs > 6 {
		t.Errorf("%d repairs in the first minute, want 4 to 6", repairs)
	}
	if repairs := fight(memory, clock, time.Hour); repairs > 12 {
		t.Errorf("%d repairs in the following hour, want at most 12", repairs)
	}
	contests := memory.Contests(brakeKey)
	if len(contests) != 1 || contests[0].Writer != "rival" || contests[0].Object != brakeObject {
		t.Errorf("the contests are %+v", contests)
	}
}

func TestAnObjectAtRestIsRepairedAtOnceAgain(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	memory := New(clock)
	fight(memory, clock, 10*time.Minute)
	clock.SetTime(clock.Now().Add(brakeMost))
	if contests := memory.Contests(brakeKey); len(contests) != 0 {
		t.Errorf("the contests after the last hold are %+v", contests)
	}
	clock.SetTime(clock.Now().Add(brakeRelease))
	if _, contested := memory.Repaired(brakeKey, brakeObject, ""); contested || memory.Held(brakeKey, brakeObject) {
		t.Error("the first repair after a rest slows down the next")
	}
}

func TestOccasionalRepairsAreNotHeld(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	memory := New(clock)
	for range ContestedAfter - 1 {
		if _, contested := memory.Repaired(brakeKey, brakeObject, "kubectl-edit"); contested || memory.Held(brakeKey, brakeObject) {
			t.Fatal("an early repair is held")
		}
	}
}
