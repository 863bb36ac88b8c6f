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
	// loadPeriod is the minimum time between two requests of one client: 12 per second.
	loadPeriod = time.Second / 12
	// Each client requests one resized image in resizeEvery, because resizing costs a pod a hundred times more than
	// passing on the original.
	resizeEvery = 10
)

// load is a steady, limited load of requests for an image.
type load struct {
	// next returns the host of the next request, and the URL of the server to which it is sent.
	next func() (url, host string)
	// get sends a request; servesThrough unless it is replaced.
	get     func(ctx context.Context, url, host string, width int) error
	stop    chan struct{}
	clients sync.WaitGroup

	mu       sync.Mutex
	requests int
	// failures are the failures that have not been reported by a test yet.
	failures []string
}

// startLoad starts a load of one host through the Ingress.
func startLoad(host string) *load {
	return startLoadOf(func() (string, string) { return ingressURL, host })
}

func startLoadOf(next func() (url, host string)) *load { return startLoadBy(next, servesThrough) }

// startLoadBy starts a load whose requests are sent by get.
func startLoadBy(
	next func() (url, host string), get func(ctx context.Context, url, host string, width int) error,
) *load {
	l := &load{next: next, get: get, stop: make(chan struct{})}
	for range loadClients {
		l.clients.Go(l.client)
	}
	return l
}

// client ends between two requests, so that no request is interrupted.
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
		err := l.get(context.Background(), url, host, width)
		l.mu.Lock()
		l.requests++
		if err != nil {
			l.failures = append(l.failures, fmt.Sprintf("%s: %v", started.Format("15:04:05.000"), err))
		}
		l.mu.Unlock()
	}
}

// count returns the number of requests so far.
func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests
}

// during runs a step and reports the number of requests meanwhile.
func (l *load) during(t *testing.T, what string, step func()) {
	t.Helper()
	started, requests := time.Now(), l.count()
	step()
	t.Logf("%-28s %5.1fs %5d requests", what, time.Since(started).Seconds(), l.count()-requests)
}

// end ends the load. The test fails if any request failed.
func (l *load) end(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.clients.Wait()
	t.Logf("%d clients sent %d requests", loadClients, l.requests)
	l.mustNotHaveFailed(t)
}

// mustNotHaveFailed fails the test if requests failed since the last call.
func (l *load) mustNotHaveFailed(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if count := len(l.failures); count > 0 {
		t.Errorf("%d requests failed:\n%s", count, strings.Join(l.failures[:min(10, count)], "\n"))
	}
	l.failures = nil
}
