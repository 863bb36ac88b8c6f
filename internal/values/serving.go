package values

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

var (
	// logLevels are those that Darkroom v0.4.2 knows; it hangs at any other.
	logLevels = []v1alpha1.LogLevel{"debug", "info", "warn", "error", "fatal", "panic"}

	paramName  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	paramValue = regexp.MustCompile(`^[^;=[:cntrl:]]{0,128}$`)
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
	for name, value := range spec.DefaultParams {
		if !paramName.MatchString(name) || !paramValue.MatchString(string(value)) {
			b.invalid(specPath.Child("defaultParams").Key(name), value,
				"names hold letters, digits, '-' and '_' (64 at most); values hold no ';', '=' or control character (128 at most)")
		}
		b.set(string(value), "defaultParams", name)
	}
	if metrics := spec.Metrics; metrics != nil && metrics.Enabled {
		b.set(true, "metrics", "enabled")
	}
	if metrics := spec.Metrics; metrics != nil && metrics.ServiceMonitor {
		if !metrics.Enabled {
			b.errs = append(b.errs, field.Forbidden(specPath.Child("metrics", "serviceMonitor"), "needs metrics.enabled: true"))
		}
		b.set(true, "metrics", "serviceMonitor", "enabled")
	}
}

// environment passes variables on. DEBUG is refused, because it opens profiling
// at the port that serves pictures.
func (b *builder) environment(spec *v1alpha1.DarkroomSpec) {
	path := specPath.Child("extraEnv")
	for i, variable := range spec.ExtraEnv {
		if variable.Name == "DEBUG" {
			b.errs = append(b.errs, field.Forbidden(path.Index(i).Child("name"),
				"DEBUG is refused: it opens profiling at the port that serves pictures; set logLevel: debug to see more"))
		}
	}
	if len(spec.ExtraEnv) > 0 {
		b.setPlain(spec.ExtraEnv, "extraEnv")
	}
	if len(spec.ExtraEnvFrom) > 0 {
		b.setPlain(spec.ExtraEnvFrom, "extraEnvFrom")
	}
}
