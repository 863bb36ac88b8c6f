package values

import (
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
