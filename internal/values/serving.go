package values

import (
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

var (
	// logLevels are those that Darkroom v0.4.2 knows; it hangs at any other.
	logLevels = []v1alpha1.LogLevel{"debug", "info", "warn", "error", "fatal", "panic"}

	paramName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	// scrapeInterval is the format of durations of Prometheus, as far as the chart takes it.
	scrapeInterval = regexp.MustCompile(`^([0-9]+(ms|s|m|h))+$`)
	paramValue     = regexp.MustCompile(`^[^;=[:cntrl:]]{0,128}$`)
	// variableName is narrower than what Kubernetes admits: it is what a shell and
	// the chart take too.
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

// serving writes how Darkroom answers: caching, logging, default parameters, metrics.
func (b *builder) serving(spec *v1alpha1.DarkroomSpec) {
	if ttl := spec.CacheTTLSeconds; ttl != nil {
		if *ttl < 0 {
			b.invalid(specPath.Child("cacheTTLSeconds"), *ttl, "must not be negative")
		}
		b.set(*ttl, "cache", "ttlSeconds")
	}
	if spec.LogLevel != "" {
		if !slices.Contains(logLevels, spec.LogLevel) {
			b.errs = append(b.errs, field.NotSupported(specPath.Child("logLevel"), spec.LogLevel, logLevels))
		}
		b.set(string(spec.LogLevel), "logLevel")
	}
	for _, name := range slices.Sorted(maps.Keys(spec.DefaultParams)) {
		value := spec.DefaultParams[name]
		if !paramName.MatchString(name) || !paramValue.MatchString(string(value)) {
			b.invalid(specPath.Child("defaultParams").Key(name), value,
				"names may contain letters, digits, '-' and '_' (at most 64); values must not contain ';', '=' or control characters (at most 128)")
		}
		b.set(string(value), "defaultParams", name)
	}
	if spec.Metrics != nil {
		b.metrics(spec.Metrics)
	}
}

// metrics writes whether Darkroom serves metrics, and how Prometheus finds them.
func (b *builder) metrics(metrics *v1alpha1.Metrics) {
	if metrics.Enabled {
		b.set(true, "metrics", "enabled")
	}
	if !metrics.ServiceMonitor {
		return
	}
	path := specPath.Child("metrics")
	if !metrics.Enabled {
		b.errs = append(b.errs, field.Forbidden(path.Child("serviceMonitor"), "requires metrics.enabled: true"))
	}
	b.set(true, "metrics", "serviceMonitor", "enabled")
	b.labels(path.Child("serviceMonitorLabels"), metrics.ServiceMonitorLabels)
	if len(metrics.ServiceMonitorLabels) > 0 {
		b.setPlain(metrics.ServiceMonitorLabels, path.Child("serviceMonitorLabels"), "metrics", "serviceMonitor", "labels")
	}
	if interval := metrics.ScrapeInterval; interval != "" {
		if !scrapeInterval.MatchString(interval) {
			b.invalid(path.Child("scrapeInterval"), interval, "must be a duration of Prometheus, for example 30s or 1m")
		}
		b.set(interval, "metrics", "serviceMonitor", "interval")
	}
}

// probe writes the image that new pods must serve. Period and threshold are those of the
// operator's requests.
func (b *builder) probe(probe *v1alpha1.Probe) {
	if probe == nil {
		return
	}
	path := specPath.Child("probe")
	if err := v1alpha1.ValidateProbePath(probe.Path); err != nil {
		b.invalid(path.Child("path"), probe.Path, err.Error())
	}
	b.set(probe.Path, "probe", "path")
	if timeout := probe.TimeoutSeconds; timeout != nil {
		if *timeout < 1 {
			b.invalid(path.Child("timeoutSeconds"), *timeout, "must be at least 1")
		}
		b.set(int64(*timeout), "probe", "timeoutSeconds")
	}
}

// proxy is that of the operator. The chart puts it where extraEnvFrom and extraEnv of the
// Darkroom replace it.
func (b *builder) proxy(proxy Proxy) {
	for name, value := range map[string]string{"httpProxy": proxy.HTTP, "httpsProxy": proxy.HTTPS, "noProxy": proxy.No} {
		if value != "" {
			b.set(value, "proxy", name)
		}
	}
}

// environment passes variables on. DEBUG is refused, because it exposes profiling
// on the port that serves images.
func (b *builder) environment(spec *v1alpha1.DarkroomSpec) {
	path := specPath.Child("extraEnv")
	for i, variable := range spec.ExtraEnv {
		path := path.Index(i).Child("name")
		switch {
		case variable.Name == "DEBUG":
			b.errs = append(b.errs, field.Forbidden(path,
				"DEBUG is not allowed: it exposes profiling on the port that serves images; set logLevel: debug for verbose logs"))
		case !variableName.MatchString(variable.Name):
			b.invalid(path, variable.Name, "must be the name of a variable: letters, digits, '_', '.' and '-', not starting with a digit")
		}
	}
	if len(spec.ExtraEnv) > 0 {
		duplicates(b, path, spec.ExtraEnv, func(variable corev1.EnvVar) string { return variable.Name })
		b.setPlain(spec.ExtraEnv, path, "extraEnv")
	}
	if len(spec.ExtraEnvFrom) > 0 {
		b.setPlain(spec.ExtraEnvFrom, specPath.Child("extraEnvFrom"), "extraEnvFrom")
	}
}
