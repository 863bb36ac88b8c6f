package live

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

func entry(name, uid, version string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name,
		UID: types.UID(uid), ResourceVersion: version,
	}}
}

func kindsAfter(j *Journal, position uint64) []string {
	changes, _, _, ok := j.After(position)
	if !ok {
		return []string{"forgotten"}
	}
	var out []string
	for _, change := range changes {
		out = append(out, change.Kind+" "+change.Darkroom.Name+" "+change.Darkroom.ResourceVersion)
	}
	return out
}

func TestJournalWritesWhatChanges(t *testing.T) {
	j := NewJournal(8, sizeOf)
	j.Put(entry("a", "1", "10"))
	j.Put(entry("a", "1", "10")) // a resync
	j.Put(entry("a", "1", "11"))
	j.Put(entry("a", "2", "12")) // deleted and recreated between two events
	j.Remove(types.NamespacedName{Namespace: "ns", Name: "a"})
	j.Remove(types.NamespacedName{Namespace: "ns", Name: "a"})
	want := []string{"added a 10", "modified a 11", "deleted a 11", "added a 12", "deleted a 12"}
	if got := kindsAfter(j, 0); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("changes are %q, want %q", got, want)
	}
	if j.Size() != 0 {
		t.Errorf("%d are left", j.Size())
	}
}

func TestJournalForgets(t *testing.T) {
	j := NewJournal(2, sizeOf)
	for i := range 3 {
		j.Put(entry("a", "1", fmt.Sprint(i+1)))
	}
	for position, want := range map[uint64]string{
		0: "[forgotten]", 1: "[modified a 2 modified a 3]", 2: "[modified a 3]",
		3: "[]", 4: "[forgotten]",
	} {
		if got := fmt.Sprint(kindsAfter(j, position)); got != want {
			t.Errorf("after %d come %s, want %s", position, got, want)
		}
	}
}

func TestJournalWakesWhoWaits(t *testing.T) {
	j := NewJournal(2, sizeOf)
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		j.Await(ctx, types.NamespacedName{Namespace: "ns", Name: "a"}, "9")
	}()
	for version := range 12 {
		j.Put(entry("a", "1", fmt.Sprint(version)))
	}
	<-done
	if ctx.Err() != nil {
		t.Error("the waiter is not woken")
	}
	go j.Remove(types.NamespacedName{Namespace: "ns", Name: "a"})
	j.AwaitGone(ctx, types.NamespacedName{Namespace: "ns", Name: "a"}, "1")
	if ctx.Err() != nil {
		t.Error("the waiter is not woken")
	}
}

// sizeOf is about the size of a Darkroom.
func sizeOf(darkroom *v1alpha1.Darkroom) int { return len(darkroom.Annotations["large"]) }

func TestJournalKeepsSoManyBytes(t *testing.T) {
	j := NewJournal(100, sizeOf)
	darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{
		Name:        "a",
		Annotations: map[string]string{"large": strings.Repeat("x", 1<<20)},
	}}
	for i := range 50 {
		darkroom = darkroom.DeepCopy()
		darkroom.ResourceVersion = fmt.Sprint(i)
		j.Put(darkroom)
		if j.kept > maxKept {
			t.Fatalf("%d bytes are kept", j.kept)
		}
	}
	if _, _, _, ok := j.After(10); ok {
		t.Error("the journal has what it cannot keep")
	}
	if changes, _, _, ok := j.After(40); !ok || len(changes) != 10 {
		t.Errorf("the journal has %d of the last ten changes", len(changes))
	}
}
