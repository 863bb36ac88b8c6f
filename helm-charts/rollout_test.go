package charts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

func TestPodsAreReplacedOnlyWhenTheyWouldDiffer(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		want          bool
	}{
		"configuration":              {"", `{logLevel: warn}`, true},
		"the operator's annotation":  {"", `{podAnnotations: {deployments.example.com/credentials: "2"}}`, true},
		"number of pods":             {"", `{replicaCount: 3}`, false},
		"image of the startup probe": {"", `{probe: {path: /cat.jpg}}`, true},
		"ServiceMonitor": {
			`{metrics: {enabled: true}}`,
			`{metrics: {enabled: true, serviceMonitor: {enabled: true}}}`, false,
		},
		"Service":                  {"", `{service: {port: 8080}}`, false},
		"values of another source": {"", `{source: {bucket: {name: left-over}, pathPrefix: /p}}`, false},
		"slash at the end of the URL": {
			`{source: {baseUrl: "https://a.example"}}`,
			`{source: {baseUrl: "https://a.example/"}}`, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := deploymentOf(t, test.before).Spec.Template
			after := deploymentOf(t, test.after).Spec.Template
			diff := cmp.Diff(before, after)
			if (diff != "") != test.want {
				t.Errorf("want new pods: %t, difference:\n%s", test.want, diff)
			}
		})
	}
}

func TestUpgradeOfTheChartAloneKeepsThePods(t *testing.T) {
	upgraded := mustLoad(t)
	upgraded.Metadata.Version = "9.9.9"
	rendered, err := tryRender(upgraded, releaseName, inlineS3)
	expect.NoError(t, err)
	before := deploymentOf(t, inlineS3)
	after := manifests.Only[*appsv1.Deployment](t, decode(t, rendered))
	if cmp.Diff(before.Labels, after.Labels) == "" {
		t.Error("the chart's version appears nowhere, so this test would pass for any chart")
	}
	expect.Equal(t, "the Deployment", before.Spec, after.Spec)
}

// A pod of the old template that starts after a change must find its own settings.
func TestAChangeLeavesTheOldConfigurationAlone(t *testing.T) {
	before := objectsOf(t, inlineS3)
	after := objectsOf(t, strings.NewReplacer("not-a-real-key", "rotated", "{source", "{logLevel: warn, source").
		Replace(inlineS3))
	old, changed := manifests.Only[*corev1.ConfigMap](t, before), manifests.Only[*corev1.ConfigMap](t, after)
	if old.Name == changed.Name {
		t.Errorf("ConfigMap %s contains %v before and %v after", old.Name, old.Data, changed.Data)
	}
	secret := manifests.Only[*corev1.Secret](t, before)
	if secret.Name == manifests.Only[*corev1.Secret](t, after).Name {
		t.Errorf("Secret %s contains both credentials", secret.Name)
	}
}

func TestSelectorsSelectThePodsAndNothingElse(t *testing.T) {
	rendered := objectsOf(t, `{podLabels: {team: images, app.kubernetes.io/name: other}}`)
	deployment := manifests.Only[*appsv1.Deployment](t, rendered)
	want := map[string]string{"app.kubernetes.io/name": "darkroom", "app.kubernetes.io/instance": releaseName}
	expect.Equal(t, "selector, which can never change", want, deployment.Spec.Selector.MatchLabels)
	if !selects(want, deployment.Spec.Template.Labels) || deployment.Spec.Template.Labels["team"] != "images" {
		t.Errorf("labels of the pods: %v", deployment.Spec.Template.Labels)
	}
	service := manifests.Only[*corev1.Service](t, rendered)
	if selects(service.Spec.Selector, manifests.Only[*corev1.Pod](t, rendered).Labels) {
		t.Errorf("Service %s also selects the pod of helm test", service.Name)
	}
}

func selects(selector, pods map[string]string) bool {
	return labels.SelectorFromSet(selector).Matches(labels.Set(pods))
}
