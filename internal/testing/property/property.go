// Package property checks properties that need no API server, whose checks take milliseconds.
package property

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

const (
	// rounds makes up for the library, which makes a fifth of its checks with -short.
	rounds = 5
	// fixed is the number of checks that each run repeats: what they find is found in each run, and not in some.
	fixed = 40
	// words is the length of their input; a check that needs more is skipped.
	words = 1 << 12
)

// Check makes a hundred random checks of a property, also with -short, and some from fixed seeds.
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
