// Package metrics defines the operator's Prometheus metrics about Darkrooms. Metrics about controllers and requests come
// from controller-runtime. docs/metrics.md explains each metric, and a test compares it with this package.
package metrics

import (
	"compress/gzip"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/common/expfmt"
)

// namespace is the prefix of every metric.
const namespace = "darkroom_operator"

// Values of the label operation.
const (
	Install   = "install"
	Upgrade   = "upgrade"
	Repair    = "repair"
	Uninstall = "uninstall"
)

// Metrics are the metrics that are updated by events, in contrast to Darkrooms.
type Metrics struct {
	operations  *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	repairs     prometheus.Counter
	recoveries  prometheus.Counter
	lastSuccess prometheus.Gauge
}

// New creates the metrics of an operator and adds them to a registry, unless it is nil. It panics if the registry already
// has them.
func New(registry prometheus.Registerer, version, chartVersion string) *Metrics {
	register := promauto.With(registry)
	m := &Metrics{
		operations: register.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "release_operations_total",
			Help: "Number of operations on Helm releases, by operation and result.",
		}, []string{"operation", "result"}),
		seconds: register.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "release_operation_duration_seconds",
			Help:    "Duration of installs, upgrades and uninstalls in seconds, until all objects are written.",
			Buckets: []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
		repairs: register.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "drift_repairs_total",
			Help: "Number of drift repairs.",
		}),
		recoveries: register.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "release_recoveries_total",
			Help: "Number of recoveries of pending releases, left by an interrupted operator or another Helm client.",
		}),
		lastSuccess: register.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "last_successful_reconcile_timestamp_seconds",
			Help: "Unix time of the last successful reconcile of a Darkroom; 0 before the first.",
		}),
	}
	register.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info",
		Help: "Always 1, with the versions of the operator and of its chart as labels.",
	}, []string{"version", "chart_version"}).WithLabelValues(version, chartVersion).Set(1)
	// Counters start at 0, so that the first failure is an increase.
	for _, operation := range []string{Install, Upgrade, Repair, Uninstall} {
		if operation != Repair {
			m.seconds.WithLabelValues(operation)
		}
		for _, result := range []string{success, failure} {
			m.operations.WithLabelValues(operation, result)
		}
	}
	return m
}

const (
	success = "success"
	failure = "failure"
)

// Operated records an operation that started at a given time and has just ended.
func (m *Metrics) Operated(operation string, began time.Time, err error) {
	result := success
	if err != nil {
		result = failure
	}
	m.operations.WithLabelValues(operation, result).Inc()
	m.seconds.WithLabelValues(operation).Observe(time.Since(began).Seconds())
}

// Repaired counts a repair of an object that another client changed.
func (m *Metrics) Repaired() {
	m.repairs.Inc()
	m.operations.WithLabelValues(Repair, success).Inc()
}

// RepairFailed counts a failed repair.
func (m *Metrics) RepairFailed() { m.operations.WithLabelValues(Repair, failure).Inc() }

// Recovered counts the recovery of a pending release.
func (m *Metrics) Recovered() { m.recoveries.Inc() }

// Reconciled records the time of a successful reconcile.
func (m *Metrics) Reconciled(now time.Time) { m.lastSuccess.Set(float64(now.UnixMilli()) / 1000) }

// Handler serves the metrics of a process, followed by the metrics of each Darkroom. The response is always in the
// text format; the Accept header is ignored.
func (d *Darkrooms) Handler(process prometheus.Gatherer) http.Handler {
	compressed, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // an option is invalid
	}
	return compressed(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		gathered, err := process.Gather()
		if err != nil {
			http.Error(response, err.Error(), http.StatusInternalServerError)
			return
		}
		response.Header().Set("Content-Type", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
		if request.Method == http.MethodHead {
			return
		}
		// Other errors mean that the connection was closed.
		for _, family := range gathered {
			if _, err := expfmt.MetricFamilyToText(response, family); err != nil {
				return
			}
		}
		_ = d.Write(request.Context(), response)
	}))
}
