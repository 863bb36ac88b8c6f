package apiserver

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
)

type metrics struct {
	registry *prometheus.Registry
	requests *middleware.Metrics
}

func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &metrics{registry: registry, requests: middleware.NewMetrics(registry)}
}
