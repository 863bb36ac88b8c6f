package release

import (
	"cmp"

	"golang.org/x/sync/errgroup"
)

// parallelism bounds the concurrent requests for one release.
const parallelism = 8

// inParallel calls do for each item, also after an error. If several fail, it returns the error
// of the first item in order. A Darkroom with two obstacles thus reports the same one at each attempt, and its status
// is written once.
func inParallel[T any](items []T, do func(T) error) error {
	errs := make([]error, len(items))
	var group errgroup.Group
	group.SetLimit(parallelism)
	for i, item := range items {
		group.Go(func() error {
			errs[i] = do(item)
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	return cmp.Or(errs...)
}
