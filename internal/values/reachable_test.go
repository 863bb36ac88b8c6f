package values

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// unreachable are the values of the chart that neither a field of a Darkroom nor a setting of the operator sets, with
// the reason. A key includes all values below it.
var unreachable = map[string]string{
	"nameOverride":        "the operator finds objects by their labels",
	"image.digest":        "part of the image that the operator is configured with; spec.version is a tag",
	"gate.image.digest":   "as image.digest",
	"source.breaker":      "tuned for all sources; extraEnv overrides it (SOURCE_HYSTRIX_…)",
	"podDisruptionBudget": "the default keeps all but one pod, which suits every number of pods",
	"service.type": "a NodePort or LoadBalancer would serve /metrics and any host, " +
		"past the claims of hosts",
	"service.port": "only routes use it",
	"networkPolicy.ingressFrom": "depends on the cluster, not on the Darkroom: add a " +
		"NetworkPolicy, which adds peers",
	"networkPolicy.egress":               "protects the node from the Darkroom, whose author must not lift it",
	"podSecurityContext":                 "meets the Pod Security Standard restricted, whose author must not lift it",
	"securityContext":                    "as podSecurityContext",
	"preStopSleepSeconds":                "the time that routers need; terminationGracePeriodSeconds bounds the rest",
	"startupProbe":                       "probes of /ping, which need no tuning for each Darkroom",
	"readinessProbe":                     "as startupProbe",
	"livenessProbe":                      "as startupProbe",
	"tests":                              "for helm test, which the operator does not run",
	"source.credentials.credentialsJson": "inline JSON keys are not accepted in a Darkroom: use credentialsSecretRef",
}

func TestEachChartValueIsReachable(t *testing.T) {
	chart, err := darkroomChart()
	expect.NoError(t, err)
	var set []string
	options := Options{
		Image: "registry.example.com/darkroom:v0.4.2", GateImage: "registry.example.com/gate:v0.1.0",
		Proxy:              Proxy{HTTP: "http://proxy:3128", HTTPS: "http://proxy:3128", No: ".local"},
		InheritAnnotations: []string{"contact"},
	}
	for _, darkroom := range everything(t) {
		set = append(set, leaves(valuesOf(t, darkroom, Options{}), "")...)
		darkroom.Annotations = map[string]string{"contact": "images@example.com"}
		set = append(set, leaves(valuesOf(t, darkroom, options), "")...)
	}
	// below reports whether a key is one of the others or one of them is below it.
	below := func(key string, others []string) bool {
		return slices.ContainsFunc(others, func(other string) bool {
			return key == other ||
				strings.HasPrefix(other, key+".")
		})
	}
	all := leaves(chart.Values, "")
	for key := range unreachable {
		if !below(key, all) {
			t.Errorf("the chart has no value %s: remove it from the list", key)
		}
	}
	for _, leaf := range all {
		reached := below(leaf, set)
		excused := slices.ContainsFunc(slices.Collect(maps.Keys(unreachable)),
			func(key string) bool { return below(key, []string{leaf}) })
		switch {
		case !reached && !excused:
			t.Errorf("no field sets %s: add a field, or the reason why there is none", leaf)
		case reached && excused:
			t.Errorf("%s is set by a field: remove it from the list", leaf)
		}
	}
}

// leaves returns the paths of all values that are not maps, or are empty maps.
func leaves(values map[string]any, prefix string) []string {
	var all []string
	for key, value := range values {
		path := prefix + key
		if nested, isMap := value.(map[string]any); isMap && len(nested) > 0 {
			all = append(all, leaves(nested, path+".")...)
			continue
		}
		all = append(all, path)
	}
	return all
}
