package probe

import "github.com/prometheus/client_golang/prometheus"

var (
	labels      = []string{"namespace", "name"}
	successDesc = prometheus.NewDesc("darkroom_probe_success",
		"Whether the last probe of a Darkroom was served its image: 1 or 0.", labels, nil)
	durationDesc = prometheus.NewDesc("darkroom_probe_duration_seconds",
		"Duration of the last probe of a Darkroom.", labels, nil)
)

// Describe implements prometheus.Collector.
func (*Prober) Describe(descs chan<- *prometheus.Desc) {
	descs <- successDesc
	descs <- durationDesc
}

// Collect implements prometheus.Collector. Only the leader has anything to report.
func (p *Prober) Collect(metrics chan<- prometheus.Metric) {
	for _, sample := range p.samples() {
		success := 0.0
		if sample.served {
			success = 1
		}
		metrics <- prometheus.MustNewConstMetric(successDesc, prometheus.GaugeValue, success, sample.namespace, sample.name)
		metrics <- prometheus.MustNewConstMetric(durationDesc, prometheus.GaugeValue, sample.seconds, sample.namespace, sample.name)
	}
}

type sample struct {
	namespace, name string
	served          bool
	seconds         float64
}

// samples copies what is collected, so that a slow scrape does not hold up probes.
func (p *Prober) samples() []sample {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]sample, 0, len(p.targets))
	for key, e := range p.targets {
		if e.probed {
			out = append(out, sample{key.Namespace, key.Name, e.last.Served(), e.duration.Seconds()})
		}
	}
	return out
}
