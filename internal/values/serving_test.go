package values

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func serving(change func(*v1alpha1.DarkroomSpec)) *darkrooms.Builder {
	return photos().Spec(change)
}

func cacheTTL(seconds int64) *darkrooms.Builder {
	return serving(func(spec *v1alpha1.DarkroomSpec) { spec.CacheTTLSeconds = &seconds })
}

func TestServing(t *testing.T) {
	type table = map[string]any
	const aYear = int64(365 * 24 * 60 * 60)
	for name, test := range map[string]struct {
		darkroom *darkrooms.Builder
		key      string
		want     any
	}{
		"no caching is not the same as nothing said": {cacheTTL(0), "cache", table{"ttlSeconds": int64(0)}},
		"caching for a year":                         {cacheTTL(aYear), "cache", table{"ttlSeconds": aYear}},
		"log level":                                  {serving(func(spec *v1alpha1.DarkroomSpec) { spec.LogLevel = "debug" }), "logLevel", "debug"},
		"default parameters": {
			photos().DefaultParam("auto", "compress,format").DefaultParam("mono", "000000"),
			"defaultParams",
			table{"auto": "compress,format", "mono": "000000"},
		},
		"metrics not enabled": {serving(func(spec *v1alpha1.DarkroomSpec) { spec.Metrics = &v1alpha1.Metrics{} }), "metrics", nil},
		"metrics": {
			serving(func(spec *v1alpha1.DarkroomSpec) { spec.Metrics = &v1alpha1.Metrics{Enabled: true} }),
			"metrics",
			table{"enabled": true},
		},
		"metrics, scraped": {
			serving(func(spec *v1alpha1.DarkroomSpec) {
				spec.Metrics = &v1alpha1.Metrics{Enabled: true, ServiceMonitor: true}
			}),
			"metrics",
			table{"enabled": true, "serviceMonitor": table{"enabled": true}},
		},
		"environment variables": {
			photos().Env("HTTPS_PROXY", "http://proxy:3128").Env("EMPTY", ""),
			"extraEnv",
			[]any{table{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}, table{"name": "EMPTY"}},
		},
		"image of the probe; period and threshold are the operator's": {
			serving(func(spec *v1alpha1.DarkroomSpec) {
				spec.Probe = &v1alpha1.Probe{Path: "/black cat.jpg", TimeoutSeconds: ptr.To[int32](5), PeriodSeconds: ptr.To[int32](20), FailureThreshold: ptr.To[int32](2)}
			}),
			"probe",
			table{"path": "/black cat.jpg", "timeoutSeconds": int64(5)},
		},
		"no probe": {photos(), "probe", nil},
		"DEBUG as a part of a name": {
			photos().Env("MY_DEBUG", "true"),
			"extraEnv",
			[]any{table{"name": "MY_DEBUG", "value": "true"}},
		},
		"sources of environment variables": {
			serving(func(spec *v1alpha1.DarkroomSpec) {
				spec.ExtraEnvFrom = []corev1.EnvFromSource{{Prefix: "A_", ConfigMapRef: &corev1.ConfigMapEnvSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "more"},
				}}}
			}),
			"extraEnvFrom",
			[]any{table{"prefix": "A_", "configMapRef": table{"name": "more"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, at(valuesOf(t, test.darkroom.Obj(), Options{}), test.key)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.key, diff)
			}
		})
	}
}

func TestEveryLogLevelOfDarkroomIsTaken(t *testing.T) {
	for _, level := range logLevels {
		darkroom := serving(func(spec *v1alpha1.DarkroomSpec) { spec.LogLevel = level }).Obj()
		if got := render(t, darkroom, Options{}).config(t)["LOG_LEVEL"]; got != string(level) {
			t.Errorf("%s: LOG_LEVEL=%s", level, got)
		}
	}
}

func TestSettingsThatBreakServingAreRefused(t *testing.T) {
	params := func(name string) string { return "spec.defaultParams[" + name + "]" }
	debug := "exposes profiling on the port that serves images; set logLevel: debug"
	refusals{
		"cached for less than no time": {cacheTTL(-1), map[string]string{"spec.cacheTTLSeconds": "must not be negative"}},
		"a log level at which Darkroom hangs": {
			serving(func(spec *v1alpha1.DarkroomSpec) { spec.LogLevel = "warning" }),
			map[string]string{"spec.logLevel": `supported values: "debug", "info", "warn", "error", "fatal", "panic"`},
		},
		"a parameter that ends the list":  {photos().DefaultParam("w", "1;h=2"), map[string]string{params("w"): "not contain ';'"}},
		"a parameter with an equals sign": {photos().DefaultParam("w", "1=2"), map[string]string{params("w"): "'='"}},
		"a parameter with a line break":   {photos().DefaultParam("w", "1\n"), map[string]string{params("w"): "control character"}},
		"a parameter beyond the limit":    {photos().DefaultParam("w", strings.Repeat("1", 129)), map[string]string{params("w"): "at most 128"}},
		"a parameter without a name":      {photos().DefaultParam("", "1"), map[string]string{params(""): "names may contain letters"}},
		"a parameter's name with ;":       {photos().DefaultParam("w;h", "1"), map[string]string{params("w;h"): "names may contain letters"}},
		"a parameter's name with a line break": {
			photos().DefaultParam("w\n", "1"), map[string]string{params("w\n"): "names may contain letters"},
		},
		"a parameter's name beyond the limit": {
			photos().DefaultParam(strings.Repeat("w", 65), "1"), map[string]string{params(strings.Repeat("w", 65)): "at most 64"},
		},
		"several parameters": {
			photos().DefaultParam("a", ";").DefaultParam("b", "fine").DefaultParam("c", "="),
			map[string]string{params("a"): "not contain ';'", params("c"): "not contain ';'"},
		},
		"a monitor of no metrics": {
			serving(func(spec *v1alpha1.DarkroomSpec) { spec.Metrics = &v1alpha1.Metrics{ServiceMonitor: true} }),
			map[string]string{"spec.metrics.serviceMonitor": "requires metrics.enabled: true"},
		},
		"a probe of a path that leaves the Service": {
			serving(func(spec *v1alpha1.DarkroomSpec) { spec.Probe = &v1alpha1.Probe{Path: "/a/../b"} }),
			map[string]string{"spec.probe.path": "no empty, '.' or '..' segments"},
		},
		"a probe that never succeeds": {
			serving(func(spec *v1alpha1.DarkroomSpec) {
				spec.Probe = &v1alpha1.Probe{Path: "/cat.jpg", TimeoutSeconds: ptr.To[int32](0)}
			}),
			map[string]string{"spec.probe.timeoutSeconds": "must be at least 1"},
		},
		"DEBUG":              {photos().Env("A", "1").Env("DEBUG", "true"), map[string]string{"spec.extraEnv[1].name": debug}},
		"DEBUG switched off": {photos().Env("DEBUG", "false"), map[string]string{"spec.extraEnv[0].name": debug}},
		"DEBUG from elsewhere": {
			serving(func(spec *v1alpha1.DarkroomSpec) {
				spec.ExtraEnv = []corev1.EnvVar{{Name: "DEBUG", ValueFrom: &corev1.EnvVarSource{
					ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: "debug"},
				}}}
			}),
			map[string]string{"spec.extraEnv[0].name": debug},
		},
	}.check(t)
}
