package manifest

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// dependent are the kinds whose controllers need other objects of the release. Pods need the ServiceAccount and the
// configuration, and a Gateway reports missing Services in the status of the HTTPRoute.
var dependent = []string{"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod", "HTTPRoute"}

// Waves splits objects into two groups that are applied one after the other. Dependent kinds are in the second group,
// and so are existing Ingresses, because some controllers drop a route while one of its Services is missing. A new
// Ingress does not serve any traffic yet.
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
