package middleware

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count requests by route.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// NewMetrics returns registered metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "darkroom_apiserver_requests_total", Help: "Requests by route and status.",
		}, []string{"route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "darkroom_apiserver_request_duration_seconds", Help: "Time to respond, by route, without streams.",
			Buckets: []float64{.001, .005, .025, .1, .5, 1, 5, 30},
		}, []string{"route"}),
	}
	registry.MustRegister(m.requests, m.seconds)
	return m
}

// record contains the details of a request for its log entry.
type record struct {
	route string
	user  string
	err   error
}

type recordKey struct{}

// recordOf returns the record in a context. Without Observe, it returns a new record that is never read.
func recordOf(ctx context.Context) *record {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		return r
	}
	return &record{}
}

func setRoute(ctx context.Context, pattern string) { recordOf(ctx).route = pattern }

// SetUser adds the name of the caller to the log entry of a request.
func SetUser(ctx context.Context, name string) { recordOf(ctx).user = name }

// SetError adds an error to the log of a request, for errors that the response does not
// disclose.
func SetError(ctx context.Context, err error) { recordOf(ctx).err = err }

// WriteLogged is the message of the log entry of a write. Loggers must not drop this message, even if there are many.
const WriteLogged = "Write"

// Observe counts and logs each request with its caller, route and result. It omits bodies,
// queries and headers, which may contain secrets. Reads are logged at debug level, and writes of
// known callers with the message WriteLogged.
func Observe(log logr.Logger, metrics *Metrics, routes Routes, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		seen := &record{}
		recorder := &statusRecorder{ResponseWriter: w}
		defer func() {
			route := cmp.Or(seen.route, "none")
			status := cmp.Or(recorder.status, http.StatusOK)
			metrics.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
			if !routes[route].Streams {
				metrics.seconds.WithLabelValues(route).Observe(time.Since(start).Seconds())
			}
			if seen.err != nil {
				log.Error(seen.err, "Request failed", "method", r.Method, "path", r.URL.Path, "user", seen.user)
			}
			isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
			level, message := 0, "Request"
			switch {
			case routes[route].Probe, isRead && status < http.StatusInternalServerError:
				level = 1
			case !isRead && seen.user != "":
				message = WriteLogged
			}
			log.V(level).Info(message, "method", r.Method, "path", r.URL.Path, "status", status, "user", seen.user,
				"milliseconds", time.Since(start).Milliseconds())
		}()
		next.ServeHTTP(recorder, r.WithContext(context.WithValue(r.Context(), recordKey{}, seen)))
	})
}

// statusRecorder records the status of a response.
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

// Unwrap supports http.ResponseController, for deadlines and flushes.
func (s *statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }
