package serve

import (
	"slices"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// responseMemory limits the memory of entries that are being sent, because slow clients can keep entries alive after the
// cache has dropped them. An entry counts once, even if several clients read it. When the memory is used up, the
// oldest response of the client with the most memory is ended.
type responseMemory struct {
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
func (m *responseMemory) add(client string, e *cache.Entry, budget int64, cut func()) (release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := e.Size()
	for !m.keeps(e) && m.total > 0 && m.total+size > budget {
		oldest := m.oldestOfLargest(client, size)
		if oldest == nil {
			return nil, problem.New(problem.Busy, "too many large responses are being sent; retry later").
				Retry(2 * time.Second)
		}
		oldest.cut()
		m.drop(oldest)
	}
	if !m.keeps(e) {
		m.total += size
	}
	s := &sending{client, e, cut}
	m.sendings = append(m.sendings, s)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.drop(s)
	}, nil
}

// oldestOfLargest returns the oldest response of the client with the most memory, unless the other client would have
// more with a response of the given size.
func (m *responseMemory) oldestOfLargest(other string, size int64) (oldest *sending) {
	kept := map[string]int64{other: size}
	for _, s := range m.sendings {
		kept[s.client] += s.entry.Size()
	}
	most := kept[other]
	for _, s := range m.sendings {
		if kept[s.client] > most {
			oldest, most = s, kept[s.client]
		}
	}
	return oldest
}

// keeps reports whether the body of an entry is being sent. Several entries can share one body.
func (m *responseMemory) keeps(e *cache.Entry) bool {
	return slices.ContainsFunc(m.sendings, func(s *sending) bool {
		return s.entry == e || e.Size() > 0 && s.entry.Size() > 0 && &s.entry.Body[:1][0] == &e.Body[:1][0]
	})
}

func (m *responseMemory) drop(s *sending) {
	at := slices.Index(m.sendings, s)
	if at < 0 {
		return // it was cut
	}
	m.sendings = slices.Delete(m.sendings, at, at+1)
	if !m.keeps(s.entry) {
		m.total -= s.entry.Size()
	}
}
