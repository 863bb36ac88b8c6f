package live

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

func versionOf(darkroom *v1alpha1.Darkroom) string {
	return fmt.Sprintf("%s %s %s", KeyOf(darkroom), darkroom.UID, darkroom.ResourceVersion)
}

// In any order of reads and changes, a reader has the current Darkrooms and receives no change twice.
func TestAReaderKnowsWhatThereIs(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		all, version := NewDarkrooms(), 0
		watch := all.Watch()
		defer watch.Stop()
		known := map[types.NamespacedName]*v1alpha1.Darkroom{}
		take := func() {
			for _, change := range watch.Take() {
				key := KeyOf(change.Darkroom)
				before := known[key]
				if (change.Kind == Added) != (before == nil) || change.Kind == Modified && before.UID != change.Darkroom.UID {
					t.Fatalf("%s is %s, but the reader has %v", versionOf(change.Darkroom), change.Kind, before)
				}
				if known[key] = change.Darkroom; change.Kind == Deleted {
					delete(known, key)
				}
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			key := types.NamespacedName{Namespace: "a", Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")}
			switch rapid.SampledFrom([]string{"put", "again", "replace", "remove", "take", "restart"}).Draw(t, "step") {
			case "put", "replace":
				version++
				uid := types.UID(fmt.Sprint(rapid.IntRange(1, 2).Draw(t, "UID")))
				one := darkrooms.New(key.Name, key.Namespace).UID(uid).Obj()
				one.ResourceVersion = fmt.Sprint(version)
				all.Put(one)
			case "again":
				if one := all.Get(key); one != nil {
					all.Put(one)
				}
			case "remove":
				all.Remove(key)
			case "take":
				take()
			case "restart":
				clear(known)
				for _, one := range watch.Restart() {
					known[KeyOf(one)] = one
				}
			}
		}
		take()
		var want, got []string
		for _, one := range all.All() {
			want = append(want, versionOf(one))
		}
		for _, one := range known {
			got = append(got, versionOf(one))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("the reader has %q, want %q", got, want)
		}
		if changes := watch.Take(); len(changes) > 0 {
			t.Errorf("the reader received %v twice", changes)
		}
	})
}

func TestAwaitEndsWithTheVersionAndWithTheRemoval(t *testing.T) {
	all, key := NewDarkrooms(), types.NamespacedName{Namespace: "a", Name: "a"}
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		all.Await(ctx, key, "9")
	}()
	for version := range 12 {
		one := darkrooms.New("a", "a").UID("1").Obj()
		one.ResourceVersion = fmt.Sprint(version)
		all.Put(one)
	}
	<-done
	go all.Remove(key)
	all.AwaitGone(ctx, key, "1")
	if ctx.Err() != nil {
		t.Error("a waiting reader is not woken")
	}
	if len(all.watches) > 0 {
		t.Errorf("%d watches are left", len(all.watches))
	}
}
