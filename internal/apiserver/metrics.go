package apiserver

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/live"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
)

type metrics struct {
	registry *prometheus.Registry
	requests *middleware.Metrics
	streams  prometheus.Gauge
}

func newMetrics(darkrooms *live.Darkrooms) *metrics {
	registry := prometheus.NewRegistry()
	m := &metrics{
		registry: registry,
		requests: middleware.NewMetrics(registry),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "darkroom_apiserver_streams", Help: "Number of open streams of live events.",
		}),
	}
	known := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "darkroom_apiserver_darkrooms", Help: "Number of Darkrooms in the cache.",
	}, func() float64 { return float64(darkrooms.Count()) })
	registry.MustRegister(m.streams, known,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}
