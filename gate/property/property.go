// Package property checks properties that take milliseconds per check. Only tests use it. The operator's module
// has the same package.
package property

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

const (
	// rounds compensates for the library, which makes only a fifth of its checks with -short.
	rounds = 5
	// fixed is the number of checks with fixed seeds. Failures of these checks are reproducible in each run.
	fixed = 20
	// words is the length of the input of fixed checks; a check that needs more is skipped.
	words = 1 << 12
)

// Check makes a hundred random checks of a property, even with -short, and some with fixed seeds.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	count := 1
	if testing.Short() {
		count = rounds
	}
	for range count {
		rapid.Check(t, property)
	}
	for seed := range uint64(fixed) {
		t.Run(fmt.Sprintf("fixed seed %d", seed), func(t *testing.T) {
			source := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // no secret
			input := make([]byte, 0, 8*words)
			for range words {
				input = binary.LittleEndian.AppendUint64(input, source.Uint64())
			}
			rapid.MakeFuzz(property)(t, input)
		})
	}
}
