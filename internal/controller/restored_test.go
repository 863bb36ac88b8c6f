package controller

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// versions answers lists with resource versions, one after the other; 0 is no answer, and 1 not a number.
type versions struct {
	client.Reader
	left []uint64
}

func (v *versions) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	next := v.left[0]
	switch v.left = v.left[1:]; next {
	case 0:
		return errors.New("no answer")
	case 1:
		list.SetResourceVersion("opaque")
	default:
		list.SetResourceVersion(strconv.FormatUint(next, 10))
	}
	return nil
}

func TestVersionsThatGoBackEndTheManager(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(rapid.Uint64Range(0, 9), 1, 9).Draw(t, "versions")
		api := &versions{left: drawn}
		watch := &restoreWatch{live: api}
		var before uint64
		for _, version := range drawn {
			err := watch.check(context.Background())
			if goesBack := version > 1 && version < before; errors.Is(err, ErrClusterChanged) != goesBack {
				t.Fatalf("%d after %d: %v", version, before, err)
			} else if goesBack {
				return
			}
			if version > 1 {
				before = version
			}
		}
	})
}
