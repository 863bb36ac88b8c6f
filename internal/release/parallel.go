package release

import (
	"cmp"

	"golang.org/x/sync/errgroup"
)

// parallelism limits the concurrent requests for one release.
const parallelism = 8

// inParallel calls do for each item, even after an error, and returns the error of the first item in order that failed.
// The choice is deterministic: a Darkroom with two problems reports the same one after each attempt, so its status is
// written once.
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
