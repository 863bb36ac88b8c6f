// Package prometheus tests the rules in config/prometheus and the dashboards in config/grafana with the engine of
// Prometheus itself. It is its own module, so that no program of the repository depends on Prometheus.
//
// The series come from a scrape that internal/metrics records and keeps current
// (testdata/scrape.txt there), or are written in the notation of Prometheus' own rule tests.
package prometheus
