package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// metrics is enough of Prometheus' text format to be scraped. Its names are not
// Darkroom's: nothing may depend on them.
type metrics struct {
	enabled bool

	mu      sync.Mutex
	errors  map[string]int
	served  int
	seconds float64
}

func newMetrics(enabled bool) *metrics {
	return &metrics{enabled: enabled, errors: map[string]int{"storage_get_error": 0, "processor_error": 0}}
}

func (m *metrics) count(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.errors[kind]++
}

func (m *metrics) observe(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.served++
	m.seconds += d.Seconds()
}

func (m *metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	if !m.enabled {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprintln(w, "# HELP darkroom_standin_errors_total Images not served, by cause.")
	fmt.Fprintln(w, "# TYPE darkroom_standin_errors_total counter")
	for _, kind := range slices.Sorted(maps.Keys(m.errors)) {
		fmt.Fprintf(w, "darkroom_standin_errors_total{kind=%q} %d\n", kind, m.errors[kind])
	}
	fmt.Fprintln(w, "# HELP darkroom_standin_process_seconds Time taken to make images.")
	fmt.Fprintln(w, "# TYPE darkroom_standin_process_seconds summary")
	fmt.Fprintf(w, "darkroom_standin_process_seconds_sum %g\n", m.seconds)
	fmt.Fprintf(w, "darkroom_standin_process_seconds_count %d\n", m.served)
}
