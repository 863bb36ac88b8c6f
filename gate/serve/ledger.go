package serve

import (
	"slices"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// ledger limits the memory of entries that are being sent, because slow clients can keep entries alive after the
// cache has dropped them. An entry counts once, even if several clients read it. When the memory is used up, the
// oldest response of the client with the most memory is ended.
type ledger struct {
	mu       sync.Mutex
	total    int64
	sendings []*sending // oldest first
}

type sending struct {
	client string
	entry  *cache.Entry
	cut    func()
}

// add counts a response until release is called. If others need the memory, cut is called and must end the response.
// The error is a problem.
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

// oldestOfLargest returns the oldest response of the client with the most memory, unless the other client would have
// more with a response of the given size.
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

// keeps reports whether the body of an entry is being sent. Several entries can share one body.
func (l *ledger) keeps(e *cache.Entry) bool {
	return slices.ContainsFunc(l.sendings, func(s *sending) bool {
		return s.entry == e || e.Size() > 0 && s.entry.Size() > 0 && &s.entry.Body[:1][0] == &e.Body[:1][0]
	})
}

func (l *ledger) drop(s *sending) {
	at := slices.Index(l.sendings, s)
	if at < 0 {
		return // it was cut
	}
	l.sendings = slices.Delete(l.sendings, at, at+1)
	if !l.keeps(s.entry) {
		l.total -= s.entry.Size()
	}
}
