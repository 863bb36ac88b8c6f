//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	loadClients = 4
	// loadPeriod is the least time between two requests of one client: 12 a second.
	loadPeriod = time.Second / 12
	// Each client has one in resizeEvery images resized; that costs a pod a
	// hundred times more than to pass the original on.
	resizeEvery = 10
)

// load is a steady, bounded load of requests for an image.
type load struct {
	// next returns the host of the next request and the URL of the server it is sent to.
	next    func() (url, host string)
	started time.Time
	stop    chan struct{}
	clients sync.WaitGroup

	mu       sync.Mutex
	requests int
	failures []string
	// reported is the number of failures that a test has reported.
	reported int
}

// startLoad starts a load of one host through the Ingress.
func startLoad(host string) *load {
	return startLoadOf(func() (string, string) { return ingressURL, host })
}

func startLoadOf(next func() (url, host string)) *load {
	l := &load{next: next, started: time.Now(), stop: make(chan struct{})}
	for range loadClients {
		l.clients.Go(l.client)
	}
	return l
}

// client ends between two requests, so that none is cut off.
func (l *load) client() {
	ticker := time.NewTicker(loadPeriod)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
		}
		width := 0
		if n%resizeEvery == 0 {
			width = 60
		}
		started := time.Now()
		url, host := l.next()
		err := servesThrough(context.Background(), url, host, width)
		l.record(started, err)
	}
}

func (l *load) record(started time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if err != nil {
		l.failures = append(l.failures, fmt.Sprintf("after %s: %v", started.Sub(l.started).Round(time.Millisecond), err))
	}
}

// count returns the number of requests and of failures so far.
func (l *load) count() (requests, failures int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests, len(l.failures)
}

// during runs a step, and reports how many requests there were and how many failed.
func (l *load) during(t *testing.T, what string, step func()) {
	t.Helper()
	requests, failures := l.count()
	started := time.Now()
	step()
	moreRequests, moreFailures := l.count()
	t.Logf("%-28s %5.1fs %5d requests %3d failures", what, time.Since(started).Seconds(), moreRequests-requests, moreFailures-failures)
}

// end ends the load. The test fails if a request did.
func (l *load) end(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.clients.Wait()
	t.Logf("%d clients, %d requests in %.1fs, %d failures", loadClients, l.requests, time.Since(l.started).Seconds(), len(l.failures))
	l.mustNotHaveFailed(t)
}

// mustNotHaveFailed fails the test if requests failed since the last call.
func (l *load) mustNotHaveFailed(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	failures := l.failures[l.reported:]
	l.reported = len(l.failures)
	l.mu.Unlock()
	if len(failures) > 0 {
		t.Errorf("%d requests failed:\n%s", len(failures), strings.Join(failures[:min(10, len(failures))], "\n"))
	}
}
