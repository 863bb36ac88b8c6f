package storage_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// TestAnOperatorReadsWhatIsStored runs random sequences of writes by an operator and by another process. The operator
// must notice writes that its memory does not contain.
func TestAnOperatorReadsWhatIsStored(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, _ := newDarkroom(t)
		operator := newStore().Of(d, &storage.Memory{})
		stored := map[int]helmrelease.Status{}
		for range rapid.IntRange(0, 4).Draw(rt, "initial revisions") {
			create(rt, t, d, operator, stored)
		}
		for range rapid.IntRange(1, 4).Draw(rt, "writes") {
			writer := operator
			if rapid.Bool().Draw(rt, "by another process") {
				writer = revisions(d)
			}
			write(rt, t, d, writer, stored)
			isRead(rt, t, d, operator, stored)
		}
	})
}

// write changes the revisions of a Darkroom, and updates the expected statuses.
func write(
	rt *rapid.T, t *testing.T, d *v1alpha1.Darkroom, writer *storage.Revisions, stored map[int]helmrelease.Status,
) {
	t.Helper()
	numbers := slices.Sorted(maps.Keys(stored))
	var err error
	switch rapid.SampledFrom([]string{"create", "update", "prune", "prune the oldest", "delete"}).Draw(rt, "write") {
	case "create":
		create(rt, t, d, writer, stored)
	case "update":
		if len(numbers) > 0 {
			number := rapid.SampledFrom(numbers).Draw(rt, "number")
			stored[number] = status().Draw(rt, "status")
			err = writer.Update(t.Context(), revisionOf(d, number, stored[number]))
		}
	case "prune":
		keep := rapid.IntRange(0, 3).Draw(rt, "kept")
		for i, number := range numbers {
			if keep > 0 && i < len(numbers)-keep && stored[number] != helmrelease.StatusDeployed {
				delete(stored, number)
			}
		}
		err = writer.Prune(t.Context(), keep)
	case "prune the oldest":
		possible := len(numbers) > 0 && stored[numbers[0]] != helmrelease.StatusDeployed
		if possible {
			delete(stored, numbers[0])
		}
		var pruned bool
		if pruned, err = writer.PruneOldest(t.Context()); pruned != possible {
			rt.Errorf("pruned the oldest: %t, want %t", pruned, possible)
		}
	case "delete":
		exists := len(stored) > 0
		clear(stored)
		var found bool
		if found, err = writer.Delete(t.Context()); found != exists {
			rt.Errorf("found revisions to delete: %t, want %t", found, exists)
		}
	}
	if err != nil {
		rt.Fatal(err)
	}
}

// create stores another revision. Sorted by name, numbers with more digits would not come last.
func create(
	rt *rapid.T, t *testing.T, d *v1alpha1.Darkroom, writer *storage.Revisions, stored map[int]helmrelease.Status,
) {
	t.Helper()
	next := slices.Max(append(slices.Collect(maps.Keys(stored)), 0)) +
		rapid.SampledFrom([]int{1, 5}).Draw(rt, "more than the last")
	stored[next] = status().Draw(rt, "status")
	if err := writer.Create(t.Context(), revisionOf(d, next, stored[next])); err != nil {
		rt.Fatal(err)
	}
}

func status() *rapid.Generator[helmrelease.Status] {
	return rapid.SampledFrom([]helmrelease.Status{
		helmrelease.StatusDeployed, helmrelease.StatusSuperseded, helmrelease.StatusFailed, helmrelease.StatusPendingUpgrade,
	})
}

// isRead compares the revisions read by the operator with the expected ones.
func isRead(
	rt *rapid.T, t *testing.T, d *v1alpha1.Darkroom, operator *storage.Revisions, stored map[int]helmrelease.Status,
) {
	t.Helper()
	numbers := slices.Sorted(maps.Keys(stored))
	slices.Reverse(numbers)
	var all, current []int
	for i, number := range numbers {
		all = append(all, number)
		if i == 0 || stored[number] == helmrelease.StatusDeployed {
			current = append(current, number)
		}
	}
	var want error
	if len(all) == 0 {
		want = driver.ErrReleaseNotFound
	}
	last, err := operator.Last(t.Context())
	if !errors.Is(err, want) || want == nil && (last.Version != all[0] || last.Info.Status != stored[all[0]]) {
		rt.Fatalf("Last returned %+v (%v), want one of %v", last, err, stored)
	}
	before := requests.Load()
	if _, err := operator.Last(t.Context()); !errors.Is(err, want) || requests.Load() > before {
		rt.Errorf("a second Last took %d requests, want none (%v)", requests.Load()-before, err)
	}
	before = lists.Load()
	if read, err := operator.Current(t.Context()); !errors.Is(err, want) || !cmp.Equal(current, numbersOf(read)) ||
		want == nil && lists.Load() > before {
		rt.Errorf("Current returned %v with %d lists (%v), want %v of %v", numbersOf(read),
			lists.Load()-before, err, current, stored)
	}
	if again, err := operator.Last(t.Context()); !errors.Is(err, want) || want == nil && again.Version != all[0] {
		rt.Errorf("after Current, Last returned %+v (%v)", again, err)
	}
	deployed, err := operator.IsDeployed(t.Context())
	if want := slices.Contains(slices.Collect(maps.Values(stored)), helmrelease.StatusDeployed); deployed != want ||
		err != nil {
		rt.Errorf("deployed: %t (%v), want %t", deployed, err, want)
	}
	memory := &storage.Memory{}
	behind := storage.New(typed.CoreV1(), typed.AppsV1(), lagging{}, lagging{}, clock).Of(d, memory)
	if read, err := behind.Current(t.Context()); !errors.Is(err, want) || !cmp.Equal(current, numbersOf(read)) {
		rt.Errorf("with empty caches: got %v (%v), want %v", numbersOf(read), err, current)
	}
	before = requests.Load()
	if _, err := newStore().Of(d, memory).Last(t.Context()); !errors.Is(err, want) || requests.Load() > before {
		rt.Errorf("with current caches, Last took %d requests, want none (%v)", requests.Load()-before, err)
	}
}

// If the newest revision were read without data, it would be deleted as undecodable.
func TestANewestRevisionIsReadWhateverOthersTake(t *testing.T) {
	const revisions, size = 9, 940 << 10 // together more than maxData
	d, store := newDarkroom(t)
	var want []int
	for number := revisions; number > 0; number-- {
		random := make([]byte, size/4*3)
		if _, err := rand.Read(random); err != nil {
			t.Fatal(err)
		}
		revision := revisionOf(d, number, helmrelease.StatusDeployed)
		revision.Manifest = base64.StdEncoding.EncodeToString(random)
		mustCreate(t, store, revision)
		want = append(want, number)
	}
	behind := read(storage.New(typed.CoreV1(), typed.AppsV1(), lagging{}, lagging{}, clock), d)
	if read, err := behind.Current(t.Context()); err != nil || !cmp.Equal(want, numbersOf(read)) {
		t.Errorf("got %v (%v), want %v", numbersOf(read), err, want)
	}
	if left := secretsOf(t, d); len(left) != revisions {
		t.Errorf("got %d remaining revisions", len(left))
	}
}

func numbersOf(releases []*helmrelease.Release) (numbers []int) {
	for _, release := range releases {
		numbers = append(numbers, release.Version)
	}
	return numbers
}

// TestAllRevisionsDecideWhoOwnsARelease covers every combination of owners of the revisions with one name.
func TestAllRevisionsDecideWhoOwnsARelease(t *testing.T) {
	const ours, helms, predecessors, all = 1, 2, 4, 8
	for owners := range all {
		d, store := newDarkroom(t)
		predecessor := d.DeepCopy()
		predecessor.UID = "uid-0"
		if owners&ours != 0 {
			mustCreate(t, store, revisionOf(d, 1, helmrelease.StatusDeployed))
		}
		if owners&helms != 0 {
			byHand(t, revisionOf(d, 2, helmrelease.StatusDeployed))
		}
		if owners&predecessors != 0 {
			mustCreate(t, revisions(predecessor), revisionOf(d, 3, helmrelease.StatusDeployed))
		}
		var want error
		switch {
		case owners&helms != 0:
			want = storage.ErrForeignRelease
		case owners&predecessors != 0:
			want = storage.ErrPredecessor
		case owners == 0:
			want = driver.ErrReleaseNotFound
		}
		store = revisions(d)
		if _, err := store.Last(t.Context()); !errors.Is(err, want) {
			t.Errorf("owners %03b: Last: %v, want %v", owners, err, want)
		}
	}
}
