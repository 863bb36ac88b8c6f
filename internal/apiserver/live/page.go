package live

import (
	"context"
	"errors"
	"net/http"
	"sort"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

const (
	// maxQuestions bounds the access reviews of one page, for callers that may list only some
	// namespaces. The rest follows in the next page.
	maxQuestions = 200
	// maxPage bounds the Darkrooms of one page, in bytes of JSON; one always fits.
	maxPage = 2 << 20
)

// Page returns the Darkrooms of a journal after a key that are in the scope, until the page is full
// or the limit of access reviews is reached. If the caller's budget is used up, it returns
// the ones found so far. The next page is the one after next; there is none if next is empty.
func (s *Scope) Page(ctx context.Context, journal *Journal, after types.NamespacedName, selector labels.Selector, limit int,
) (page []*v1alpha1.Darkroom, next types.NamespacedName, err error) {
	all, _ := journal.All()
	var last types.NamespacedName
	size := 0
	for _, darkroom := range startAfter(all, after) {
		full := len(page) == limit || size >= maxPage || (len(s.known) >= maxQuestions && !s.knows(darkroom.Namespace))
		if full {
			return page, last, nil
		}
		if !selector.Matches(labels.Set(darkroom.Labels)) {
			last = KeyOf(darkroom)
			continue
		}
		visible, err := s.Has(ctx, darkroom.Namespace)
		var refusal *problem.Details
		if errors.As(err, &refusal) && refusal.Status == http.StatusTooManyRequests && last != (types.NamespacedName{}) {
			return page, last, nil
		}
		if err != nil {
			return nil, types.NamespacedName{}, err
		}
		last = KeyOf(darkroom)
		if visible {
			page = append(page, darkroom)
			size += journal.Bytes(last)
		}
	}
	return page, types.NamespacedName{}, nil
}

// startAfter returns the part of a sorted list after a key.
func startAfter(all []*v1alpha1.Darkroom, key types.NamespacedName) []*v1alpha1.Darkroom {
	return all[sort.Search(len(all), func(i int) bool { return CompareKeys(KeyOf(all[i]), key) > 0 }):]
}
