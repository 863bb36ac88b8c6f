package live

import (
	"context"
	"sort"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// maxPage limits the size of one page, in bytes of JSON. A page contains at least one Darkroom.
const maxPage = 2 << 20

// Page returns the Darkrooms after a key that are in the scope, until the page is full. The next page starts after
// next, which is the last Darkroom of the page; an empty next means that there is none.
func (s *Scope) Page(
	ctx context.Context, from *Darkrooms, after types.NamespacedName, selector labels.Selector, limit int,
) (page []*v1alpha1.Darkroom, next types.NamespacedName, err error) {
	all := from.All()
	isAfter := func(i int) bool { return CompareKeys(KeyOf(all[i]), after) > 0 }
	size := 0
	for _, darkroom := range all[sort.Search(len(all), isAfter):] {
		if !selector.Matches(labels.Set(darkroom.Labels)) {
			continue
		}
		visible, err := s.Has(ctx, darkroom.Namespace)
		if err != nil {
			return nil, types.NamespacedName{}, err
		}
		if !visible {
			continue
		}
		if len(page) == limit || size >= maxPage {
			return page, KeyOf(page[len(page)-1]), nil
		}
		page = append(page, darkroom)
		size += wire.Size(darkroom)
	}
	return page, types.NamespacedName{}, nil
}
