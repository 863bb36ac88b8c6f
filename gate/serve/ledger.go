package serve

import (
	"net/http"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// ledger bounds the memory of entries that are being sent, which slow clients can keep after
// the cache has dropped them. An entry counts once, however many clients read it.
type ledger struct {
	mu      sync.Mutex
	total   int64
	readers map[*cache.Entry]int
}

// hold counts a reader of an entry until release is called. The error is a problem.
func (l *ledger) hold(e *cache.Entry, budget int64) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers == nil {
		l.readers = map[*cache.Entry]int{}
	}
	if l.readers[e] == 0 {
		if l.total > 0 && l.total+int64(len(e.Body)) > budget {
			return nil, problem.New(http.StatusServiceUnavailable, "too many large responses are being sent; retry later").Retry(2 * time.Second)
		}
		l.total += int64(len(e.Body))
	}
	l.readers[e]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.readers[e]--; l.readers[e] == 0 {
			delete(l.readers, e)
			l.total -= int64(len(e.Body))
		}
	}, nil
}
