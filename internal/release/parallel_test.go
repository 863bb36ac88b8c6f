package release

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

func TestTheErrorOfTheFirstItemIsReported(t *testing.T) {
	failures := []error{errors.New("first"), errors.New("second"), errors.New("third")}
	property.Check(t, func(t *rapid.T) {
		order := rapid.Permutation([]int{0, 1, 2}).Draw(t, "order in which they are met")
		met := make([]chan struct{}, len(order)+1)
		for i := range met {
			met[i] = make(chan struct{})
		}
		close(met[0])
		turns := make([]int, len(order)) // the position of each item in the order
		for turn, item := range order {
			turns[item] = turn
		}
		err := inParallel([]int{0, 1, 2}, func(item int) error {
			<-met[turns[item]]
			close(met[turns[item]+1])
			return failures[item]
		})
		if !errors.Is(err, failures[0]) {
			t.Errorf("got error %v, want %v", err, failures[0])
		}
	})
}
