package apiserver

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the metrics of the server.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
}

func newMetrics(journal *journal) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "darkroom_apiserver_requests_total", Help: "Requests by route and status.",
		}, []string{"route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "darkroom_apiserver_request_duration_seconds", Help: "Time to answer, by route; streams are left out.",
			Buckets: []float64{.001, .005, .025, .1, .5, 1, 5, 30},
		}, []string{"route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "darkroom_apiserver_streams", Help: "Number of open streams of live events.",
		}),
	}
	known := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "darkroom_apiserver_darkrooms", Help: "Number of Darkrooms in the cache.",
	}, func() float64 { return float64(journal.size()) })
	m.registry.MustRegister(m.requests, m.seconds, m.streams, known,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// notes are details of a request for its log entry.
type notes struct {
	pattern string
	user    string
	err     error
}

type notesKey struct{}

func notePattern(ctx context.Context, pattern string) {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		n.pattern = pattern
	}
}

func noteCaller(ctx context.Context, who *caller) {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		n.user = who.user.GetName()
	}
}

// noteError keeps an error that is only logged.
func noteError(ctx context.Context, err error) {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		n.err = err
	}
}

// observe counts and logs each request with its caller, route and result. It omits bodies,
// queries and headers, which may contain secrets. Reads are logged at debug level, writes
// always.
func observe(log logr.Logger, metrics *metrics, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		n := &notes{}
		recorder := &statusRecorder{ResponseWriter: w}
		defer func() {
			route := cmp.Or(n.pattern, "none")
			status := cmp.Or(recorder.status, http.StatusOK)
			metrics.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
			if route != streamRoute {
				metrics.seconds.WithLabelValues(route).Observe(time.Since(start).Seconds())
			}
			if n.err != nil {
				log.Error(n.err, "Request failed", "method", r.Method, "path", r.URL.Path, "user", n.user)
			}
			level := 0
			// Readiness probes repeat while the server is not ready.
			if n.pattern == readyRoute || status < http.StatusInternalServerError && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
				level = 1
			}
			log.V(level).Info("Request", "method", r.Method, "path", r.URL.Path, "status", status, "user", n.user,
				"milliseconds", time.Since(start).Milliseconds())
		}()
		next.ServeHTTP(recorder, r.WithContext(context.WithValue(r.Context(), notesKey{}, n)))
	})
}

// statusRecorder remembers the status. Unwrap keeps deadlines and flushes working.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (s *statusRecorder) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (s *statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }
