package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestNumberOfPodsHasOneOwner(t *testing.T) {
	type table = map[string]any
	percentage := int32(60)
	for name, test := range map[string]struct {
		darkroom    *darkrooms.Builder
		replicas    any
		autoscaling any
	}{
		"one by default": {photos(), int64(1), nil},
		"as asked for":   {photos().Replicas(4), int64(4), nil},
		"none":           {photos().Replicas(0), int64(0), nil},
		"left to the autoscaler, in spite of replicas": {
			photos().Replicas(4).Autoscaling(2, 5),
			nil,
			table{"enabled": true, "minReplicas": int64(2), "maxReplicas": int64(5)},
		},
		"autoscaling from one, unless said otherwise": {
			photos().Spec(func(spec *v1alpha1.DarkroomSpec) { spec.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 5} }),
			nil,
			table{"enabled": true, "minReplicas": int64(1), "maxReplicas": int64(5)},
		},
		"autoscaling between one number and itself": {
			photos().Autoscaling(3, 3),
			nil,
			table{"enabled": true, "minReplicas": int64(3), "maxReplicas": int64(3)},
		},
		"autoscaling to a target": {
			photos().Autoscaling(2, 5).Spec(func(spec *v1alpha1.DarkroomSpec) {
				spec.Autoscaling.TargetCPUUtilizationPercentage = &percentage
			}),
			nil,
			table{"enabled": true, "minReplicas": int64(2), "maxReplicas": int64(5), "targetCPUUtilizationPercentage": int64(60)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := valuesOf(t, test.darkroom.Obj(), Options{})
			if diff := cmp.Diff(test.replicas, at(got, "replicaCount")); diff != "" {
				t.Errorf("replicaCount (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.autoscaling, at(got, "autoscaling")); diff != "" {
				t.Errorf("autoscaling (-want +got):\n%s", diff)
			}
		})
	}
}

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
		"said, but empty": {
			darkroom: photos().Spec(func(spec *v1alpha1.DarkroomSpec) { spec.Resources = &corev1.ResourceRequirements{} }),
			requests: list{cpu: "100m", memory: "128Mi"}, limits: list{memory: "2Gi"},
		},
		"requests alone": {
			darkroom: photos().Request(cpu, "1").Request(memory, "1Gi"),
			requests: list{cpu: "1", memory: "1Gi"}, limits: list{memory: "2Gi"},
			why: "a request below the default limit leaves it",
		},
		"a request of the default limit": {
			darkroom: photos().Request(memory, "2Gi"),
			requests: list{cpu: "100m", memory: "2Gi"}, limits: list{memory: "2Gi"},
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
		"both": {
			darkroom: photos().Request(cpu, "10m").Limit(cpu, "20m").Request(memory, "32Mi").Limit(memory, "64Mi"),
			requests: list{cpu: "10m", memory: "32Mi"}, limits: list{cpu: "20m", memory: "64Mi"},
		},
		"a request that is its limit": {
			darkroom: photos().Request(cpu, "1").Limit(cpu, "1000m"),
			requests: list{cpu: "1", memory: "128Mi"}, limits: list{cpu: "1", memory: "2Gi"},
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
		"autoscaling with a CPU request": {
			darkroom: photos().Autoscaling(2, 5).Request(cpu, "200m"),
			requests: list{cpu: "200m", memory: "128Mi"}, limits: list{memory: "2Gi"},
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

func TestRequestsAboveTheirLimitsAreRefused(t *testing.T) {
	refusals{
		"memory": {
			photos().Request(corev1.ResourceMemory, "2Gi").Limit(corev1.ResourceMemory, "1Gi"),
			map[string]string{"spec.resources.requests[memory]": "not exceed the limit of 1Gi"},
		},
		"CPU, in other units": {
			photos().Request(corev1.ResourceCPU, "1001m").Limit(corev1.ResourceCPU, "1"),
			map[string]string{"spec.resources.requests[cpu]": "not exceed the limit of 1"},
		},
	}.check(t)
}

func TestDefaultMemoryLimitIsTheCharts(t *testing.T) {
	chart, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	limit, ok := at(chart.Values, "resources", "limits", "memory").(string)
	if !ok || darkroomDefaults.memoryLimit.Cmp(resource.MustParse(limit)) != 0 {
		t.Errorf("the chart limits memory to %v, this package thinks %s", limit, darkroomDefaults.memoryLimit.String())
	}
}

func TestPodTemplateIsPassedOn(t *testing.T) {
	type table = map[string]any
	seconds := int64(300)
	got := valuesOf(t, photos().PodTemplate(v1alpha1.PodTemplate{
		Annotations:  map[string]string{"example.com/scrape": "true"},
		Labels:       map[string]string{"team": "a"},
		NodeSelector: map[string]string{"disk": "ssd"},
		Tolerations:  []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds}},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight:     1,
			Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpExists}}},
		}}}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
		}},
		ServiceAccountName: "robot",
	}).Obj(), Options{})
	want := table{
		"podAnnotations": table{"example.com/scrape": "true"},
		"podLabels":      table{"team": "a"},
		"nodeSelector":   table{"disk": "ssd"},
		"tolerations":    []any{table{"key": "spot", "operator": "Exists", "tolerationSeconds": 300.0}},
		"affinity": table{"nodeAffinity": table{"preferredDuringSchedulingIgnoredDuringExecution": []any{table{
			"weight": 1.0, "preference": table{"matchExpressions": []any{table{"key": "zone", "operator": "Exists"}}},
		}}}},
		"topologySpreadConstraints": []any{table{
			"maxSkew": 1.0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
			"labelSelector": table{"matchLabels": table{"team": "a"}},
		}},
		// Created by others, and therefore not by the chart.
		"serviceAccount": table{"create": false, "name": "robot"},
	}
	for key, value := range want {
		if diff := cmp.Diff(value, got[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

func TestEmptyPodTemplateWritesNothing(t *testing.T) {
	want := valuesOf(t, photos().Obj(), Options{})
	if diff := cmp.Diff(want, valuesOf(t, photos().PodTemplate(v1alpha1.PodTemplate{}).Obj(), Options{})); diff != "" {
		t.Errorf("(-without +empty):\n%s", diff)
	}
}
