package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// The resources of the pods count, after Helm has merged the values into those of the
// chart.
func TestResourcesOfThePods(t *testing.T) {
	const cpu, memory = corev1.ResourceCPU, corev1.ResourceMemory
	type list = map[corev1.ResourceName]string
	for name, test := range map[string]struct {
		darkroom         *darkrooms.Builder
		requests, limits list
		why              string
	}{
		"nothing said": {
			darkroom: photos(),
			requests: list{cpu: "100m", memory: "128Mi"}, limits: list{memory: "2Gi"},
		},
		"a memory request above the default limit": {
			darkroom: photos().Request(memory, "3Gi"),
			requests: list{cpu: "100m", memory: "3Gi"}, limits: list{memory: "3Gi"},
			why: "the limit is lifted: no pod goes without one",
		},
		"a memory limit below the default request": {
			darkroom: photos().Limit(memory, "64Mi"),
			requests: list{cpu: "100m"}, limits: list{memory: "64Mi"},
			why: "the default request is dropped; Kubernetes then requests the limit",
		},
		"a CPU limit below the default request": {
			darkroom: photos().Limit(cpu, "50m"),
			requests: list{memory: "128Mi"}, limits: list{cpu: "50m", memory: "2Gi"},
		},
		"limits above the default requests": {
			darkroom: photos().Limit(cpu, "2").Limit(memory, "4Gi"),
			requests: list{cpu: "100m", memory: "128Mi"}, limits: list{cpu: "2", memory: "4Gi"},
			why: "what is left out keeps the chart's default; without a request Kubernetes would reserve the limit",
		},
		"autoscaling": {
			darkroom: photos().Autoscaling(2, 5).Request(memory, "256Mi"),
			requests: list{cpu: "500m", memory: "256Mi"}, limits: list{memory: "2Gi"},
			why: "with 100m, two small images a second would add pods",
		},
		"autoscaling with a CPU limit below the request": {
			darkroom: photos().Autoscaling(2, 5).Limit(cpu, "300m"),
			requests: list{cpu: "300m", memory: "128Mi"}, limits: list{cpu: "300m", memory: "2Gi"},
		},
		"a resource that the chart does not know": {
			darkroom: photos().Limit("example.com/gpu", "1").Request(corev1.ResourceEphemeralStorage, "1Gi"),
			requests: list{cpu: "100m", memory: "128Mi", corev1.ResourceEphemeralStorage: "1Gi"},
			limits:   list{memory: "2Gi", "example.com/gpu": "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, test.darkroom.Obj(), Options{})
			got := objects.deployment(t).Spec.Template.Spec.Containers[0].Resources
			if diff := cmp.Diff(test.requests, texts(got.Requests)); diff != "" {
				t.Errorf("requests: %s (-want +got):\n%s", test.why, diff)
			}
			if diff := cmp.Diff(test.limits, texts(got.Limits)); diff != "" {
				t.Errorf("limits: %s (-want +got):\n%s", test.why, diff)
			}
		})
	}
}

func texts(quantities corev1.ResourceList) map[corev1.ResourceName]string {
	out := map[corev1.ResourceName]string{}
	for name, quantity := range quantities {
		out[name] = quantity.String()
	}
	return out
}

func TestDefaultMemoryLimitIsTheCharts(t *testing.T) {
	chart, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	limit, ok := at(chart.Values, "resources", "limits", "memory").(string)
	if !ok || darkroomMemoryLimit.Cmp(resource.MustParse(limit)) != 0 {
		t.Errorf("the chart limits memory to %v, this package thinks %s", limit, darkroomMemoryLimit.String())
	}
}
