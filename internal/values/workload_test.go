package values

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// The resources that count are the result of Helm's merge of the Darkroom's values into the chart's values.
func TestResourcesOfThePods(t *testing.T) {
	const cpu, memory = corev1.ResourceCPU, corev1.ResourceMemory
	type list = map[corev1.ResourceName]string
	for name, test := range map[string]struct {
		darkroom         *darkrooms.Builder
		requests, limits list
	}{
		"nothing said": {photos(), list{cpu: "100m", memory: "128Mi"}, list{memory: "2Gi"}},
		// The limit is raised, because every pod has one.
		"a memory request above the default limit": {
			photos().Request(memory, "3Gi"),
			list{cpu: "100m", memory: "3Gi"},
			list{memory: "3Gi"},
		},
		// The default request is dropped. Kubernetes then requests the limit.
		"a memory limit below the default request": {photos().Limit(memory, "64Mi"), list{cpu: "100m"}, list{memory: "64Mi"}},
		"a CPU limit below the default request": {
			photos().Limit(cpu, "50m"),
			list{memory: "128Mi"},
			list{cpu: "50m", memory: "2Gi"},
		},
		// Omitted values keep the chart's default. Without a request, Kubernetes would reserve the limit.
		"limits above the default requests": {
			photos().Limit(cpu, "2").Limit(memory, "4Gi"), list{cpu: "100m", memory: "128Mi"}, list{cpu: "2", memory: "4Gi"},
		},
		// With 100m, two small images per second would already add pods.
		"autoscaling": {
			photos().Autoscaling(2, 5).Request(memory, "256Mi"), list{cpu: "500m", memory: "256Mi"}, list{memory: "2Gi"},
		},
		"autoscaling with a CPU limit below the request": {
			photos().Autoscaling(2, 5).Limit(cpu, "300m"), list{cpu: "300m", memory: "128Mi"}, list{cpu: "300m", memory: "2Gi"},
		},
		"a resource that the chart does not know": {
			photos().Limit("example.com/gpu", "1").Request(corev1.ResourceEphemeralStorage, "1Gi"),
			list{cpu: "100m", memory: "128Mi", corev1.ResourceEphemeralStorage: "1Gi"},
			list{memory: "2Gi", "example.com/gpu": "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := deploymentIn(t, render(t, test.darkroom.Obj(), Options{})).Spec.Template.Spec.Containers[0].Resources
			expect.Equal(t, "requests", test.requests, texts(got.Requests))
			expect.Equal(t, "limits", test.limits, texts(got.Limits))
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
	chart, err := darkroomChart()
	expect.NoError(t, err)
	limit, ok := at(chart.Values, "resources", "limits", "memory").(string)
	if !ok || darkroomMemoryLimit.Cmp(resource.MustParse(limit)) != 0 {
		t.Errorf("the chart limits memory to %v, but this package to %s", limit, darkroomMemoryLimit.String())
	}
}
