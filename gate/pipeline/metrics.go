package pipeline

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/felixge/httpsnoop"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// Metrics of the gate. No label has values that clients can choose, such as paths.
type Metrics struct {
	Registry *prometheus.Registry

	requests   *prometheus.CounterVec
	duration   *prometheus.HistogramVec
	bytes      prometheus.Counter
	saved      prometheus.Counter
	fetches    *prometheus.HistogramVec
	transforms *prometheus.HistogramVec
	renders    *prometheus.HistogramVec
	waits      *prometheus.HistogramVec
	evictions  *prometheus.CounterVec
	diskErrors prometheus.Counter
	// untransformed counts by media type, of which there are a dozen.
	untransformed *prometheus.CounterVec
	signatures    *prometheus.CounterVec
	fallbacks     *prometheus.CounterVec
}

const namespace = "darkroom_gate"

var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// NewMetrics registers the metrics.
func NewMetrics(version string) *Metrics {
	registry := prometheus.NewRegistry()
	auto := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return auto.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets},
			labels)
	}
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	counter("build_info", "Always 1, with the version as a label.", "version").WithLabelValues(version).Inc()
	return &Metrics{
		Registry: registry,
		requests: counter("requests_total",
			"Number of requests by status code and cache state (hit, miss, revalidated, stale, none).", "code", "cache"),
		duration: histogram("request_duration_seconds", "Time until a response is sent, by cache state.", "cache"),
		bytes:    counter("response_bytes_total", "Bytes of response bodies.").WithLabelValues(),
		saved: counter("saved_bytes_total",
			"Bytes of originals minus bytes of the smaller results that were sent in full in their place.").WithLabelValues(),
		fetches: histogram("fetch_duration_seconds", "Time of requests to the source, by result (ok, error).", "result"),
		transforms: histogram("transform_duration_seconds",
			"Time of transformations by Darkroom, by result (ok, error).", "result"),
		renders: histogram("render_duration_seconds",
			"Time of decoding, resizing and encoding images by the gate, by result (ok, error).", "result"),
		waits:     histogram("queue_duration_seconds", "Time that requests wait for admission, by queue.", "queue"),
		evictions: counter("cache_evictions_total", "Number of entries evicted from a cache tier to make space.", "tier"),
		untransformed: counter("untransformed_total",
			"Number of originals that were passed on because they cannot be transformed, by media type.", "type"),
		signatures: counter("signatures_total",
			"Number of requests by the signature of their URL (valid, missing, invalid, expired), if URLs are signed.",
			"result"),
		fallbacks: counter("fallback_originals_total",
			"Number of originals that a fallback had and the sources before it did not, by the name of the fallback.", "source"),
		diskErrors: counter("cache_disk_errors_total", "Number of failed operations of the disk cache.").WithLabelValues(),
	}
}

// Evicted counts an evicted entry.
func (m *Metrics) Evicted(tier string) { m.evictions.WithLabelValues(tier).Inc() }

// Verified counts a request by its signature.
func (m *Metrics) Verified(result string) { m.signatures.WithLabelValues(result).Inc() }

// FellBack counts originals that were read from a fallback.
func (m *Metrics) FellBack(name string, originals float64) {
	m.fallbacks.WithLabelValues(name).Add(originals)
}

// DiskFailed counts a failed operation of the disk cache.
func (m *Metrics) DiskFailed() { m.diskErrors.Inc() }

func (m *Metrics) gauge(name, help, label, value string, get func() float64) {
	options := prometheus.GaugeOpts{
		Namespace: namespace, Name: name, Help: help,
		ConstLabels: prometheus.Labels{label: value},
	}
	promauto.With(m.Registry).NewGaugeFunc(options, get)
}

func (m *Metrics) observe(c *cache.Cache) {
	for _, tier := range []string{cache.TierMemory, cache.TierDisk} {
		m.gauge("cache_bytes", "Bytes of a cache tier.", "tier", tier,
			func() float64 { n, _ := c.Usage(tier); return float64(n) })
		m.gauge("cache_entries", "Entries of a cache tier.", "tier", tier,
			func() float64 { _, n := c.Usage(tier); return float64(n) })
	}
}

func (m *Metrics) newQueue(name string, capacity, forClient int64) *fairqueue.Queue {
	q := fairqueue.New(capacity, maxWaiting, forClient)
	m.gauge("queue_length", "Requests that wait for admission.", "queue", name,
		func() float64 { _, n := q.Load(); return float64(n) })
	m.gauge("queue_admitted", "Admitted weight: requests (fetch) or bytes.", "queue", name,
		func() float64 { n, _ := q.Load(); return float64(n) })
	waits := m.waits.WithLabelValues(name)
	q.Waited = func(ctx context.Context, took time.Duration) {
		timing.Add(ctx, "queue", took)
		waits.Observe(took.Seconds())
	}
	return q
}

// since measures a part of a request until the returned function is called.
func since(ctx context.Context, part string, durations *prometheus.HistogramVec) func(error) {
	start := time.Now()
	return func(err error) {
		took := time.Since(start)
		timing.Add(ctx, part, took)
		durations.WithLabelValues(outcome(err)).Observe(took.Seconds())
	}
}

// outcome returns the label of a result. A missing image is not an error of the source.
func outcome(err error) string {
	if err != nil && problem.Of(err).Kind.IsFailure() {
		return "error"
	}
	return "ok"
}

// Responded counts a response. Sent is the entry that was sent, if any. Partial responses and responses without a
// body count as no savings.
func (m *Metrics) Responded(state State, sent *cache.Entry, response httpsnoop.Metrics) {
	if sent != nil && response.Code == http.StatusOK && response.Written == int64(len(sent.Body)) {
		m.saved.Add(float64(max(sent.OriginalBytes-response.Written, 0)))
	}
	m.requests.WithLabelValues(strconv.Itoa(response.Code), string(state)).Inc()
	m.duration.WithLabelValues(string(state)).Observe(response.Duration.Seconds())
	m.bytes.Add(float64(response.Written))
}
