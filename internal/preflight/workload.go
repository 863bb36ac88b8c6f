package preflight

import (
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

const (
	labelName      = "app.kubernetes.io/name"
	labelComponent = "app.kubernetes.io/component"
	// component is the value of labelComponent. The value of labelName gets it as a suffix:
	// Services, autoscalers and disruption budgets of the Darkroom select by that label. The
	// chart's NetworkPolicy selects both, as the pod must reach no more than those that serve.
	component = "preflight"
)

// Workload returns the Deployment that runs one pod of a rendered Deployment's template.
// ID names the change.
func Workload(rendered *unstructured.Unstructured, id string) (*unstructured.Unstructured, error) {
	template, found, err := unstructured.NestedMap(rendered.Object, "spec", "template")
	if err != nil || !found {
		return nil, fmt.Errorf("the rendered Deployment %s has no pod template", rendered.GetName())
	}
	var pod unstructured.Unstructured
	pod.Object = template
	own := map[string]string{
		labelName:               pod.GetLabels()[labelName] + "-" + component,
		labelComponent:          component,
		v1alpha1.LabelPreflight: id,
	}
	pod.SetLabels(merged(pod.GetLabels(), own))
	endAtOnce(template)

	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion(rendered.GetAPIVersion())
	out.SetKind(rendered.GetKind())
	out.SetNamespace(rendered.GetNamespace())
	out.SetName(Name(rendered.GetName(), id))
	out.SetLabels(merged(rendered.GetLabels(), own))
	out.Object["spec"] = map[string]any{
		"replicas":                int64(1),
		"revisionHistoryLimit":    int64(0),
		"strategy":                map[string]any{"type": "Recreate"},
		"selector":                map[string]any{"matchLabels": map[string]any{labelName: own[labelName], v1alpha1.LabelPreflight: id}},
		"template":                template,
		"progressDeadlineSeconds": int64(StartTimeout.Seconds()),
	}
	return out, nil
}

// Name returns the name of the Deployment of a change to another Deployment.
func Name(deployment, id string) string {
	return strings.Join([]string{deployment, component, id}, "-")
}

// endAtOnce removes the shutdown delay of the pod. No client is connected to it.
func endAtOnce(template map[string]any) {
	spec, found, err := unstructured.NestedMap(template, "spec")
	if err != nil || !found {
		return
	}
	spec["terminationGracePeriodSeconds"] = int64(1)
	containers, _, _ := unstructured.NestedSlice(spec, "containers")
	for _, container := range containers {
		if fields, ok := container.(map[string]any); ok {
			delete(fields, "lifecycle")
		}
	}
	spec["containers"] = containers
	template["spec"] = spec
}

func merged(labels, own map[string]string) map[string]string {
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, own)
	return out
}
