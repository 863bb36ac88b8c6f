package main

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// urls is the number of different URLs that one client requests.
var urls int

// flood compares the response times of ordinary clients while another client requests many different URLs, 32 at a
// time, with the times before and after. Every tenth image of the flood is ordinary; the others are tiny, so that their
// number matters instead of their pixels.
func flood(s *stack, _ *origin) string {
	for i := range 50 {
		get(s, fmt.Sprintf("/small%d.jpg?w=300", i))
	}
	quiet := undisturbed(s, 0)
	meanwhile := newCrowd(s, 1)
	start := time.Now()
	var next, served atomic.Int64
	var wait sync.WaitGroup
	for range 32 {
		wait.Go(func() {
			for i := next.Add(1); i <= int64(urls); i = next.Add(1) {
				path := fmt.Sprintf("/tiny%d.jpg?w=30", i)
				if i%10 == 0 {
					path = fmt.Sprintf("/small-of-flood%d.jpg?w=300", i)
				}
				if do(s, http.MethodGet, path, http.Header{"X-Forwarded-For": {"192.0.2.1"}}).code == http.StatusOK {
					served.Add(1)
				}
			}
		})
	}
	wait.Wait()
	took := time.Since(start)
	busy, failed := meanwhile.end()
	quiet = append(quiet, undisturbed(s, 2)...)
	return fmt.Sprintf(
		"p99 of the others %.0f → %.0f ms (×%.1f), %d of them failed; %d URLs served in %.0f s, %s, disk %d MiB",
		ms(p99(quiet)), ms(p99(busy)), float64(p99(busy))/float64(p99(quiet)), failed, served.Load(),
		took.Seconds(), s.peak(), s.disk()>>10)
}

// undisturbed returns the response times of ordinary clients, measured for twenty seconds.
func undisturbed(s *stack, number int) []time.Duration {
	c := newCrowd(s, number)
	time.Sleep(20 * time.Second)
	times, _ := c.end()
	return times
}

func p99(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)*99/100]
}

// crowd simulates eight clients that each request twenty images per second. Every tenth image is new.
type crowd struct {
	stop chan struct{}
	wait sync.WaitGroup

	mu     sync.Mutex
	times  []time.Duration
	failed int
}

func newCrowd(s *stack, number int) *crowd {
	c := &crowd{stop: make(chan struct{})}
	for client := range 8 {
		header := http.Header{"X-Forwarded-For": {fmt.Sprintf("198.51.100.%d", client)}}
		c.wait.Go(func() {
			ticker := time.NewTicker(50 * time.Millisecond)
			defer ticker.Stop()
			for n := 0; ; n++ {
				select {
				case <-c.stop:
					return
				case <-ticker.C:
				}
				path := fmt.Sprintf("/small%d.jpg?w=300", n%50)
				if n%10 == 0 {
					path = fmt.Sprintf("/small-of-crowd%d-%d-%d.jpg?w=300", number, client, n)
				}
				start := time.Now()
				code := do(s, http.MethodGet, path, header).code
				c.record(time.Since(start), code)
			}
		})
	}
	return c
}

func (c *crowd) record(took time.Duration, code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times = append(c.times, took)
	if code != http.StatusOK {
		c.failed++
	}
}

// end returns the times, and the number of requests that failed.
func (c *crowd) end() (times []time.Duration, failed int) {
	close(c.stop)
	c.wait.Wait()
	return c.times, c.failed
}
