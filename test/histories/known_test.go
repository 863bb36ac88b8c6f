package histories

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// known are histories that violated an invariant once, as they were printed.
var known = map[string]string{
	"a policy denies another revision": `
		alice: kubectl apply Darkroom photos with the sub-domain a
		alice: kubectl patch darkroom photos: another log level
		a policy denies the operator writes (CREATE) of secrets, with the reason Forbidden
		alice: kubectl patch darkroom photos: another log level`,
	"etcd is restored": `
		alice: kubectl apply Darkroom photos with the sub-domain a
		etcd is saved to a snapshot
		alice: kubectl patch darkroom photos: another log level
		alice: kubectl patch darkroom photos: another log level
		etcd is restored from the snapshot
		alice: kubectl set image deployment photos`,
}

func TestKnownHistories(t *testing.T) {
	t.Parallel()
	steps := sentences()
	for name, history := range known {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var parsed []step
			for sentence := range strings.Lines(strings.TrimSpace(history)) {
				sentence = strings.TrimSpace(sentence)
				if steps[sentence].do == nil {
					t.Fatalf("no step says %q", sentence)
				}
				parsed = append(parsed, steps[sentence])
			}
			if violated, err := run(parsed, patience); violated != "" {
				t.Errorf("violated: %s: %v", violated, err)
			}
		})
	}
}

// sentences are the steps by what they say.
func sentences() map[string]step {
	steps := map[string]step{}
	for _, opening := range openings {
		steps[opening.says] = opening
	}
	for _, kind := range kinds() {
		generator := rapid.Custom(func(t *rapid.T) step {
			rapid.Bool().Draw(t, "any") // generators have to draw something
			return kind.draw(t)
		})
		for seed := range 200 {
			step := generator.Example(seed)
			steps[step.says] = step
		}
	}
	return steps
}
