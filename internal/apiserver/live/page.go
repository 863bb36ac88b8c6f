package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

const (
	// maxQuestions limits the access reviews of one page, for callers that may list only some namespaces. The next page
	// continues.
	maxQuestions = 200
	// maxPage limits the size of one page, in bytes of JSON. A page has at least one Darkroom.
	maxPage = 2 << 20
)

// Cursor is the last Darkroom of a page. If the caller may see the Darkroom, the cursor has its key, and stays valid
// after a deletion. Otherwise it has a digest of the UID, which does not disclose the name. The zero value is before
// the first Darkroom.
type Cursor struct {
	types.NamespacedName

	Digest string
}

// Page returns the Darkrooms after a cursor that are in the scope, until the page is full, the limit of access reviews
// is reached, or the caller's budget is used up. The next page starts after next; an empty next means that there is
// none.
func (s *Scope) Page(ctx context.Context, from *Darkrooms, after Cursor, selector labels.Selector, limit int,
) (page []*v1alpha1.Darkroom, next Cursor, err error) {
	all := from.All()
	if all, err = startAfter(all, after); err != nil {
		return nil, Cursor{}, err
	}
	var last *v1alpha1.Darkroom
	size := 0
	for _, darkroom := range all {
		full := len(page) == limit || size >= maxPage || (len(s.known) >= maxQuestions && !s.knows(darkroom.Namespace))
		if full {
			return page, s.cursor(last), nil
		}
		if !selector.Matches(labels.Set(darkroom.Labels)) {
			last = darkroom
			continue
		}
		visible, err := s.Has(ctx, darkroom.Namespace)
		var refusal *problem.Details
		if errors.As(err, &refusal) && refusal.Status == http.StatusTooManyRequests && last != nil {
			return page, s.cursor(last), nil
		}
		if err != nil {
			return nil, Cursor{}, err
		}
		last = darkroom
		if visible {
			page = append(page, darkroom)
			size += from.Bytes(KeyOf(darkroom))
		}
	}
	return page, Cursor{}, nil
}

// cursor returns the cursor of a Darkroom, without an access review.
func (s *Scope) cursor(of *v1alpha1.Darkroom) Cursor {
	if s.all || s.only != "" || s.known[of.Namespace] {
		return Cursor{NamespacedName: KeyOf(of)}
	}
	return Cursor{Digest: digestOf(of)}
}

// digestOf returns a digest of the UID. UIDs are random, so the digest discloses nothing.
func digestOf(darkroom *v1alpha1.Darkroom) string {
	sum := sha256.Sum256([]byte(darkroom.UID))
	return hex.EncodeToString(sum[:16])
}

// startAfter returns the part of a sorted list after a cursor.
func startAfter(all []*v1alpha1.Darkroom, after Cursor) ([]*v1alpha1.Darkroom, error) {
	if after.Digest == "" {
		isAfter := func(i int) bool { return CompareKeys(KeyOf(all[i]), after.NamespacedName) > 0 }
		return all[sort.Search(len(all), isAfter):], nil
	}
	at := slices.IndexFunc(all, func(darkroom *v1alpha1.Darkroom) bool { return digestOf(darkroom) == after.Digest })
	if at < 0 {
		return nil, problem.New(http.StatusBadRequest, "invalid continue token",
			problem.Field{Location: "query.continue", Message: "the list has changed: begin again without it"})
	}
	return all[at+1:], nil
}
