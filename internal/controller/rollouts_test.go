package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// deployment is the Deployment of a Darkroom in a fleet.
type deployment struct {
	version int
	rolling bool
	// byUser is set if a user's change was applied. Such a rollout counts once the caches show it.
	byUser bool
}

// fleet is a cluster with Darkrooms, and an operator whose version changes. Its caches lag behind, and it works
// on several Darkrooms at once.
type fleet struct {
	t        *rapid.T
	version  int
	rollouts *rollouts
	// live are the Deployments, and cached those that the caches show.
	live, cached map[types.NamespacedName]deployment
	// editions are what users determine, and deployed what was applied of it. applied are the Darkrooms that this process
	// has applied.
	editions, deployed map[types.NamespacedName]int
	applied            map[types.NamespacedName]bool
	// unaffected are the Darkrooms whose pods no version of the operator changes.
	unaffected map[types.NamespacedName]bool
	// due are the Darkrooms in the work queue, and under way those whose reconcile has not ended; true if it holds.
	due      map[types.NamespacedName]bool
	underWay map[types.NamespacedName]bool
}

func newFleet(t *rapid.T, size, limit int) *fleet {
	f := &fleet{
		t: t, live: map[types.NamespacedName]deployment{}, editions: map[types.NamespacedName]int{},
		deployed:   map[types.NamespacedName]int{},
		unaffected: map[types.NamespacedName]bool{},
	}
	for i := range size {
		key := types.NamespacedName{Namespace: "photos", Name: fmt.Sprint(i)}
		f.live[key], f.unaffected[key] = deployment{}, rapid.Bool().Draw(t, "unaffected")
	}
	f.restart(limit)
	return f
}

// restart starts an operator of the next version.
func (f *fleet) restart(limit int) {
	f.version++
	f.cached, f.applied, f.underWay = maps.Clone(f.live), map[types.NamespacedName]bool{}, map[types.NamespacedName]bool{}
	f.due = map[types.NamespacedName]bool{}
	wake := func(keys ...types.NamespacedName) {
		for _, key := range keys {
			f.due[key] = true
		}
	}
	wake(slices.Collect(maps.Keys(f.live))...)
	f.rollouts = &rollouts{
		limit: limit,
		rolling: func(context.Context) ([]types.NamespacedName, error) {
			return f.where(func(key types.NamespacedName) bool { return f.cached[key].rolling }), nil
		},
		shown: func(_ context.Context, key types.NamespacedName) bool { return f.cached[key] == f.live[key] },
		wake:  wake,
	}
}

// where returns the Darkrooms that satisfy a condition, in their order.
func (f *fleet) where(satisfy func(types.NamespacedName) bool) []types.NamespacedName {
	return slices.SortedFunc(func(yield func(types.NamespacedName) bool) {
		for key := range f.live {
			if satisfy(key) && !yield(key) {
				return
			}
		}
	}, func(a, b types.NamespacedName) int { return strings.Compare(a.Name, b.Name) })
}

// begin begins the reconcile of a Darkroom that is due, up to its apply.
func (f *fleet) begin(key types.NamespacedName) {
	delete(f.due, key)
	byUser := f.editions[key] != f.deployed[key]
	f.underWay[key] = false
	if !byUser && f.cached[key].version == f.version {
		return
	}
	if !f.applied[key] && !byUser || f.rollouts.editions[key] != "" {
		before := f.rollouts.editions[key]
		edition := fmt.Sprint(f.editions[key])
		others := f.where(func(other types.NamespacedName) bool {
			live := f.live[other]
			return other != key && live.rolling && (!live.byUser || f.cached[other] == live)
		})
		held, err := f.rollouts.holds(f.t.Context(), key, edition, func() (bool, error) { return !f.unaffected[key], nil })
		switch edited := before != "" && before != edition; {
		case err != nil:
			f.t.Fatal(err)
		case held && edited:
			f.t.Fatalf("%s waits, although a user changed it", key)
		case held && f.unaffected[key]:
			f.t.Fatalf("%s waits, although its pods stay", key)
		case !held && !edited && !f.unaffected[key] && len(others) >= f.rollouts.limit:
			f.t.Fatalf("%s rolls, although %d others roll", key, len(others))
		}
		if f.underWay[key] = held; held {
			return
		}
	}
	if f.live[key] = (deployment{f.version, true, byUser}); f.unaffected[key] && !byUser {
		f.live[key] = deployment{version: f.version}
		f.cached[key] = f.live[key] // nothing is written, so no event follows
	}
	f.deployed[key], f.applied[key] = f.editions[key], true
}

func (f *fleet) end(key types.NamespacedName) {
	held := f.underWay[key]
	delete(f.underWay, key)
	f.rollouts.settle(f.t.Context(), key, held)
}

// show lets the caches catch up with a Deployment.
func (f *fleet) show(key types.NamespacedName) {
	f.cached[key] = f.live[key]
	if !f.live[key].rolling {
		f.rollouts.advance(f.t.Context())
	}
}

// ready ends a rollout: its pods are ready, or exceed the deadline.
func (f *fleet) ready(key types.NamespacedName) {
	f.live[key] = deployment{version: f.live[key].version}
}

// drain lets everything happen that is about to.
func (f *fleet) drain() {
	for {
		progress := false
		for _, step := range f.steps() {
			for _, key := range f.where(step.possible) {
				progress = true
				step.do(key)
			}
		}
		if !progress {
			return
		}
	}
}

// step is something that may happen to a Darkroom.
type step struct {
	name     string
	possible func(types.NamespacedName) bool
	do       func(types.NamespacedName)
}

func (f *fleet) steps() []step {
	isUnderWay := func(key types.NamespacedName) bool { _, found := f.underWay[key]; return found }
	return []step{
		{"begin", func(key types.NamespacedName) bool { return f.due[key] && !isUnderWay(key) }, f.begin},
		{"end", isUnderWay, f.end},
		{"show", func(key types.NamespacedName) bool { return f.cached[key] != f.live[key] }, f.show},
		{"ready", func(key types.NamespacedName) bool { return f.live[key].rolling }, f.ready},
	}
}

func TestAtMostSoManyDarkroomsRollAndEachGetsItsTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := rapid.IntRange(1, 4)
		f := newFleet(t, rapid.IntRange(1, 9).Draw(t, "Darkrooms"), limits.Draw(t, "limit"))
		all := f.where(func(types.NamespacedName) bool { return true })
		actions := map[string]func(*rapid.T){
			"edit": func(t *rapid.T) {
				key := rapid.SampledFrom(all).Draw(t, "Darkroom")
				f.editions[key]++
				f.due[key] = true
			},
			"restart": func(t *rapid.T) { f.restart(limits.Draw(t, "limit")) },
		}
		for _, step := range f.steps() {
			actions[step.name] = func(t *rapid.T) {
				possible := f.where(step.possible)
				if len(possible) == 0 {
					t.Skip(step.name)
				}
				step.do(rapid.SampledFrom(possible).Draw(t, "Darkroom"))
			}
		}
		t.Repeat(actions)
		f.drain()
		for _, key := range all {
			if f.live[key].version != f.version || f.deployed[key] != f.editions[key] {
				t.Fatalf("%s has version %d of %d, edition %d of %d; in the queue: %v", key,
					f.live[key].version, f.version, f.deployed[key], f.editions[key], f.rollouts.queue)
			}
		}
	})
}
