package manifest

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// dependent are the kinds whose controllers need the other objects of a release: pods need
// ServiceAccount and configuration, and a Gateway reports Services that are missing in the
// status of the HTTPRoute.
var dependent = []string{"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod", "HTTPRoute"}

// Waves splits objects into two groups, to be applied one after the other. Dependent kinds
// are in the second group, and so is an Ingress that exists: some controllers drop its route
// while one of its Services is missing. A new Ingress has no traffic to lose.
func Waves(
	objects []*unstructured.Unstructured, exists func(*unstructured.Unstructured) bool,
) [][]*unstructured.Unstructured {
	var first, second []*unstructured.Unstructured
	for _, object := range objects {
		if kind := object.GetKind(); slices.Contains(dependent, kind) || kind == "Ingress" && exists(object) {
			second = append(second, object)
		} else {
			first = append(first, object)
		}
	}
	return [][]*unstructured.Unstructured{first, second}
}
