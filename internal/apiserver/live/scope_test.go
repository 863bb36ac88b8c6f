package live

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// rights are the namespaces in which a caller has a permission; "" means all.
type rights map[string]bool

func (r rights) May(_ context.Context, right auth.Right) (bool, error) {
	return r[right.Namespace], nil
}

func (r rights) Require(_ context.Context, right auth.Right) error {
	if !r[right.Namespace] {
		return problem.New(http.StatusForbidden, "denied")
	}
	return nil
}

// darkroomsOf returns Darkrooms, given as namespace/name, with their name as a label.
func darkroomsOf(keys ...string) *Darkrooms {
	out := NewDarkrooms()
	for _, text := range keys {
		key := keyOf(text)
		out.Put(darkrooms.New(key.Name, key.Namespace).Label("name", key.Name).UID(types.UID(text)).Obj())
	}
	return out
}

// keyOf parses namespace/name.
func keyOf(text string) types.NamespacedName {
	namespace, name, _ := strings.Cut(text, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func TestAScopeNoticesChangedRights(t *testing.T) {
	for name, c := range map[string]struct {
		before, after rights
		only          string
		changed, ends bool
	}{
		"nothing": {before: rights{"a": true}, after: rights{"a": true}},
		"a namespace is granted": {
			before: rights{"a": true}, after: rights{"a": true, "b": true},
			changed: true,
		},
		"a namespace is taken":      {before: rights{"a": true}, after: rights{}, changed: true},
		"all are granted":           {before: rights{"a": true}, after: rights{"": true}, changed: true},
		"all are taken":             {before: rights{"": true}, after: rights{"a": true}, changed: true},
		"an unknown one is granted": {before: rights{}, after: rights{"c": true}},
		"the only one stays":        {before: rights{"a": true}, after: rights{"a": true}, only: "a"},
		"the only one is taken":     {before: rights{"a": true}, after: rights{}, only: "a", ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			scope, err := NewScope(t.Context(), c.before, "watch", c.only)
			expect.NoError(t, err)
			for _, namespace := range []string{"a", "b"} {
				_, err := scope.Has(t.Context(), namespace)
				expect.NoError(t, err)
			}
			scope.access = c.after
			changed, err := scope.refresh(t.Context())
			if (err != nil) != c.ends {
				t.Fatalf("the error is %v", err)
			}
			if changed != c.changed {
				t.Errorf("changed is %t, want %t", changed, c.changed)
			}
		})
	}
}

// TestPagesAddUp checks that all pages together contain the same Darkrooms as a single page, and none that the caller
// may not see, for any page size and any permissions of the caller.
func TestPagesAddUp(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-d]/[a-d]`)
		known := darkroomsOf(rapid.SliceOf(key).Draw(t, "Darkrooms")...)
		may := rights{"": rapid.Bool().Draw(t, "all")}
		for _, namespace := range []string{"a", "b", "c", "d"} {
			may[namespace] = rapid.Bool().Draw(t, namespace)
		}
		selector := labels.SelectorFromSet(rapid.SampledFrom([]labels.Set{{}, {"name": "a"}}).Draw(t, "selector"))
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		var want, got []string
		all := known.All()
		for _, darkroom := range all {
			if (may[""] || may[darkroom.Namespace]) && selector.Matches(labels.Set(darkroom.Labels)) {
				want = append(want, KeyOf(darkroom).String())
			}
		}
		for next, pages := (types.NamespacedName{}), 0; ; pages++ {
			scope, err := NewScope(t.Context(), may, "list", "")
			if err != nil {
				t.Fatal(err)
			}
			page, more, err := scope.Page(t.Context(), known, next, selector, limit)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) > limit || pages > len(all) {
				t.Fatalf("page %d has %d Darkrooms", pages, len(page))
			}
			for _, darkroom := range page {
				got = append(got, KeyOf(darkroom).String())
			}
			if more.Namespace != "" && !may[""] && !may[more.Namespace] {
				t.Fatalf("page %d ends at %v, which the caller may not see", pages, more)
			}
			if next = more; next == (types.NamespacedName{}) {
				break
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the pages have %v, want %v", got, want)
		}
	})
}
