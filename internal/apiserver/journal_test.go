package apiserver

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func entry(name, uid, version string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid), ResourceVersion: version}}
}

func kindsAfter(j *journal, position uint64) []string {
	changes, _, _, ok := j.after(position)
	if !ok {
		return []string{"forgotten"}
	}
	var out []string
	for _, change := range changes {
		out = append(out, change.kind+" "+change.darkroom.Name+" "+change.darkroom.ResourceVersion)
	}
	return out
}

func TestJournalWritesWhatChanges(t *testing.T) {
	j := newJournal(8)
	j.put(entry("a", "1", "10"))
	j.put(entry("a", "1", "10")) // a resync
	j.put(entry("a", "1", "11"))
	j.put(entry("a", "2", "12")) // deleted and recreated between two events
	j.remove(types.NamespacedName{Namespace: "ns", Name: "a"})
	j.remove(types.NamespacedName{Namespace: "ns", Name: "a"})
	want := []string{"added a 10", "modified a 11", "deleted a 11", "added a 12", "deleted a 12"}
	if got := kindsAfter(j, 0); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("changes are %q, want %q", got, want)
	}
	if j.size() != 0 {
		t.Errorf("%d are left", j.size())
	}
}

func TestJournalForgets(t *testing.T) {
	j := newJournal(2)
	for i := range 3 {
		j.put(entry("a", "1", fmt.Sprint(i+1)))
	}
	for position, want := range map[uint64]string{0: "[forgotten]", 1: "[modified a 2 modified a 3]", 2: "[modified a 3]", 3: "[]", 4: "[forgotten]"} {
		if got := fmt.Sprint(kindsAfter(j, position)); got != want {
			t.Errorf("after %d come %s, want %s", position, got, want)
		}
	}
}

func TestJournalKnowsItsOwnPositions(t *testing.T) {
	j, other := newJournal(2), newJournal(2)
	if position, ok := j.position(j.id(7)); !ok || position != 7 {
		t.Errorf("position is %d, %t", position, ok)
	}
	for _, id := range []string{"", "7", other.id(7), j.epoch + "-x", j.epoch + "--1"} {
		if _, ok := j.position(id); ok {
			t.Errorf("%q is taken for a position", id)
		}
	}
}

func TestJournalWakesWhoWaits(t *testing.T) {
	j := newJournal(2)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		j.await(ctx, types.NamespacedName{Namespace: "ns", Name: "a"}, "9")
	}()
	for version := range 12 {
		j.put(entry("a", "1", fmt.Sprint(version)))
	}
	<-done
	if ctx.Err() != nil {
		t.Error("the waiter is not woken")
	}
	go j.remove(types.NamespacedName{Namespace: "ns", Name: "a"})
	j.awaitGone(ctx, types.NamespacedName{Namespace: "ns", Name: "a"}, "1")
	if ctx.Err() != nil {
		t.Error("the waiter is not woken")
	}
}
