package values

import (
	"maps"
	"regexp"
	"slices"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

var (
	paramName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	// variableName is stricter than Kubernetes, because the name must also work in a shell and in the chart.
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

// settings sets values for caching, logging, default parameters and metrics.
func (b *builder) settings(spec *v1alpha1.DarkroomSpec) {
	setGiven(b, spec.CacheTTLSeconds, "cache", "ttlSeconds")
	setNonZero(b, string(spec.LogLevel), "logLevel")
	for _, name := range slices.Sorted(maps.Keys(spec.DefaultParams)) {
		value := spec.DefaultParams[name]
		if !paramName.MatchString(name) {
			b.invalid(specPath.Child("defaultParams").Key(name), value,
				"names may contain letters, digits, '-' and '_' (at most 64)")
		}
		b.set(string(value), "defaultParams", name)
	}
	if spec.Metrics != nil {
		b.metrics(spec.Metrics)
	}
}

// metrics sets whether Darkroom serves metrics, and how Prometheus discovers them.
func (b *builder) metrics(metrics *v1alpha1.Metrics) {
	setNonZero(b, metrics.Enabled, "metrics", "enabled")
	if !metrics.ServiceMonitor {
		return
	}
	path := specPath.Child("metrics")
	b.set(true, "metrics", "serviceMonitor", "enabled")
	b.labels(path.Child("serviceMonitorLabels"), metrics.ServiceMonitorLabels)
	b.setPlain(metrics.ServiceMonitorLabels, path.Child("serviceMonitorLabels"), "metrics", "serviceMonitor", "labels")
	setNonZero(b, metrics.ScrapeInterval, "metrics", "serviceMonitor", "interval")
}

// probe sets the image that new pods must serve to become ready. Period and threshold are only for the operator's own
// probes.
func (b *builder) probe(probe *v1alpha1.Probe) {
	if probe == nil {
		return
	}
	b.set(probe.Path, "probe", "path")
	setGiven(b, probe.TimeoutSeconds, "probe", "timeoutSeconds")
}

// proxy sets the operator's proxy. The chart renders it so that extraEnvFrom and extraEnv of the Darkroom override it.
func (b *builder) proxy(proxy Proxy) {
	setNonZero(b, proxy.HTTP, "proxy", "httpProxy")
	setNonZero(b, proxy.HTTPS, "proxy", "httpsProxy")
	setNonZero(b, proxy.No, "proxy", "noProxy")
}

// environment checks and sets environment variables.
func (b *builder) environment(spec *v1alpha1.DarkroomSpec) {
	path := specPath.Child("extraEnv")
	for i, variable := range spec.ExtraEnv {
		if !variableName.MatchString(variable.Name) {
			b.invalid(path.Index(i).Child("name"), variable.Name,
				"must be the name of a variable: letters, digits, '_', '.' and '-', not starting with a digit")
		}
	}
	b.setPlain(spec.ExtraEnv, path, "extraEnv")
	b.setPlain(spec.ExtraEnvFrom, specPath.Child("extraEnvFrom"), "extraEnvFrom")
}
