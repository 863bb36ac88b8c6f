package values_test

import (
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// translateAllocations is what a translation may allocate.
const translateAllocations = 40

func TestATranslationAllocatesLittle(t *testing.T) {
	translate := translation(t)
	if got := testing.AllocsPerRun(200, translate); got > translateAllocations {
		t.Errorf("%.0f allocations, at most %d were meant", got, translateAllocations)
	}
}

func BenchmarkTranslate(b *testing.B) {
	translate := translation(b)
	b.ReportAllocs()
	for b.Loop() {
		translate()
	}
}

func translation(tb testing.TB) func() {
	tb.Helper()
	translator, err := values.New(values.Options{BaseDomain: "darkroom.example.com"})
	if err != nil {
		tb.Fatal(err)
	}
	darkroom := darkrooms.New("cats", "photos").Obj()
	return func() {
		if _, err := translator.Values(darkroom); err != nil {
			tb.Fatal(err)
		}
	}
}
