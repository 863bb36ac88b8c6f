package values

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuilderRefusesToOverwrite(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(*builder)
		want string // the path that was set twice; empty: nothing was
	}{
		"beside one another": {func(b *builder) { b.set(1, "a", "b"); b.set(2, "a", "c") }, ""},
		"a value":            {func(b *builder) { b.set(1, "a", "b"); b.set(2, "a", "b") }, "values.a.b"},
		"a value by itself":  {func(b *builder) { b.set(1, "a"); b.set(1, "a") }, "values.a"},
		"a null":             {func(b *builder) { b.set(nil, "a"); b.set(1, "a") }, "values.a"},
		"a value by a map":   {func(b *builder) { b.set(1, "a"); b.set(2, "a", "b") }, "values.a"},
		"a map by a value":   {func(b *builder) { b.set(1, "a", "b"); b.set(2, "a") }, "values.a"},
		"a plain value":      {func(b *builder) { setNonZero(b, "x", "a"); b.setPlain("y", specPath, "a") }, "values.a"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &builder{values: map[string]any{}}
			test.set(b)
			_, err := b.build("photos")
			var got string
			var invalid *InvalidError
			if errors.As(err, &invalid) {
				got = invalid.Fields[0].Field
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
