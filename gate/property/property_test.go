package property

import (
	"testing"

	"pgregory.net/rapid"
)

func TestAPropertyIsCheckedAHundredTimesAndFromFixedSeeds(t *testing.T) {
	var runs [2][]uint64
	for i := range runs {
		Check(t, func(t *rapid.T) { runs[i] = append(runs[i], rapid.Uint64().Draw(t, "number")) })
		if len(runs[i]) < 100+fixed {
			t.Errorf("%d checks", len(runs[i]))
		}
	}
	for i := 1; i <= fixed; i++ {
		if a, b := runs[0][len(runs[0])-i], runs[1][len(runs[1])-i]; a != b {
			t.Errorf("a fixed seed draws %d in one run and %d in the next", a, b)
		}
	}
}
