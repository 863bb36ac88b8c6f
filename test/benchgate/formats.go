package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// webp is the Accept header of a browser.
var webp = http.Header{"Accept": {"image/avif,image/webp,*/*;q=0.8"}}

const signingKey = "a key of the benchmark, 0123456789"

// signing returns the variable for a gate that requires signed URLs. The key file is in a temporary folder and is the
// same for each run.
func signing() []string {
	file := filepath.Join(os.TempDir(), "benchgate-signing-keys")
	if err := os.WriteFile(file, []byte(signingKey), 0o600); err != nil {
		panic(err)
	}
	return []string{"GATE_SIGNING_KEYS_FILE=" + file}
}

func signed(path string) string {
	hash := hmac.New(sha256.New, []byte(signingKey))
	hash.Write([]byte(path))
	return fmt.Sprintf("%s&s=%x", path, hash.Sum(nil))
}

// resizes requests a thumbnail of each of 400 photos.
func resizes(query string, header http.Header) func(*stack, *origin) string {
	return func(s *stack, _ *origin) string {
		var times []time.Duration
		var bytes int
		var last answer
		for i := range 400 {
			start := time.Now()
			last = do(s, http.MethodGet, fmt.Sprintf("/small%d.jpg?%s", i, query), header)
			times, bytes = append(times, time.Since(start)), bytes+len(last.body)
		}
		slices.Sort(times)
		return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, %s, %.1f kB each", ms(times[200]), ms(times[396]),
			last.header.Get("Content-Type"), float64(bytes)/400_000)
	}
}

func photosAsWebP(s *stack, _ *origin) string {
	start, before := time.Now(), s.cpu()
	var bytes atomic.Int64
	codes := together(40, func(i int) answer {
		a := do(s, http.MethodGet, fmt.Sprintf("/small%d.jpg?auto=format", i), webp)
		bytes.Add(int64(len(a.body)))
		return a
	})
	return fmt.Sprintf("%s, %.1f s, %.2f CPU-s each, %d kB each, %s", codes, time.Since(start).Seconds(),
		(s.cpu()-before).Seconds()/40, bytes.Load()/40_000, s.peak())
}

func twoKinds(s *stack, o *origin) string {
	types := map[string]int{}
	for i := range 100 {
		for _, header := range []http.Header{nil, webp, nil, webp} {
			types[do(s, http.MethodGet, fmt.Sprintf("/small%d.jpg?w=300&auto=format", i), header).header.Get("Content-Type")]++
		}
	}
	return fmt.Sprintf("%v, %d requests to the source", types, o.requests.Load())
}

// knownMeanwhile compares the times of a cached image before and while others are encoded.
func knownMeanwhile(s *stack, _ *origin) string {
	get(s, "/small.jpg?w=300")
	quiet := knownUntil(s, func(n int) bool { return n == 200 })
	var busy atomic.Bool
	busy.Store(true)
	var wait sync.WaitGroup
	wait.Go(func() {
		defer busy.Store(false)
		together(40, func(i int) answer { return do(s, http.MethodGet, fmt.Sprintf("/small%d.jpg?auto=format", i), webp) })
	})
	times := knownUntil(s, func(int) bool { return !busy.Load() })
	wait.Wait()
	return fmt.Sprintf("p50 %.1f → %.1f ms, p99 %.1f → %.1f ms", ms(quiet[len(quiet)/2]), ms(times[len(times)/2]),
		ms(p99(quiet)), ms(p99(times)))
}

// neighbor measures the response times of a client that requests new 1200×800 images one after another, while another
// client requests 60 photos.
func neighbor(s *stack, _ *origin) string {
	var busy atomic.Bool
	busy.Store(true)
	var wait sync.WaitGroup
	wait.Go(func() {
		defer busy.Store(false)
		together(60, func(i int) answer {
			header := http.Header{"Accept": webp["Accept"], "X-Forwarded-For": {"192.0.2.1"}}
			return do(s, http.MethodGet, fmt.Sprintf("/large%d.jpg?w=800&auto=format", i), header)
		})
	})
	var times []time.Duration
	for i := 0; busy.Load(); i++ {
		time.Sleep(100 * time.Millisecond)
		start := time.Now()
		do(s, http.MethodGet, fmt.Sprintf("/small%d.jpg?w=300", i), http.Header{"X-Forwarded-For": {"192.0.2.2"}})
		times = append(times, time.Since(start))
	}
	wait.Wait()
	first := times[0]
	slices.Sort(times)
	return fmt.Sprintf("first %.0f ms, p50 %.0f ms, last %.0f ms", ms(first), ms(times[len(times)/2]), ms(times[len(times)-1]))
}

// knownUntil returns the sorted times of sequential requests for a cached image.
func knownUntil(s *stack, done func(n int) bool) (times []time.Duration) {
	for !done(len(times)) {
		start := time.Now()
		get(s, "/small.jpg?w=300")
		times = append(times, time.Since(start))
		time.Sleep(5 * time.Millisecond)
	}
	slices.Sort(times)
	return times
}
