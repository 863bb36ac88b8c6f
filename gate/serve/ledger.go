package serve

import (
	"slices"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// ledger bounds the memory of entries that are being sent, which slow clients can keep after
// the cache has dropped them. An entry counts once, however many clients read it. When there
// is no memory left, the client that keeps most of it loses its oldest responses.
type ledger struct {
	mu       sync.Mutex
	total    int64
	sendings []*sending // the oldest first
}

type sending struct {
	client string
	entry  *cache.Entry
	cut    func()
}

// add counts a response until release is called. The error is a problem. If others need the
// memory, cut is called, which must end the response.
func (l *ledger) add(client string, e *cache.Entry, budget int64, cut func()) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := e.Size()
	for !l.keeps(e) && l.total > 0 && l.total+size > budget {
		oldest := l.oldestOfLargest(client, size)
		if oldest == nil {
			return nil, problem.New(problem.Busy, "too many large responses are being sent; retry later").
				Retry(2 * time.Second)
		}
		oldest.cut()
		l.drop(oldest)
	}
	if !l.keeps(e) {
		l.total += size
	}
	s := &sending{client, e, cut}
	l.sendings = append(l.sendings, s)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.drop(s)
	}, nil
}

// oldestOfLargest returns the oldest response of the client that keeps most, provided that it
// keeps more than another one would with a response of this size.
func (l *ledger) oldestOfLargest(other string, size int64) (oldest *sending) {
	kept := map[string]int64{other: size}
	for _, s := range l.sendings {
		kept[s.client] += s.entry.Size()
	}
	most := kept[other]
	for _, s := range l.sendings {
		if kept[s.client] > most {
			oldest, most = s, kept[s.client]
		}
	}
	return oldest
}

// keeps reports whether the body of an entry is being sent. Entries of the same body may differ in what the
// source says.
func (l *ledger) keeps(e *cache.Entry) bool {
	return slices.ContainsFunc(l.sendings, func(s *sending) bool {
		return s.entry == e || e.Size() > 0 && s.entry.Size() > 0 && &s.entry.Body[:1][0] == &e.Body[:1][0]
	})
}

func (l *ledger) drop(s *sending) {
	at := slices.Index(l.sendings, s)
	if at < 0 {
		return // cut before
	}
	l.sendings = slices.Delete(l.sendings, at, at+1)
	if !l.keeps(s.entry) {
		l.total -= s.entry.Size()
	}
}
