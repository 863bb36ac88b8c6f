package install

import (
	"path/filepath"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestThePolicyLetsProbesReachThePodsOfDarkrooms compares the egress policy of the manager with the pods in the chart
// of a Darkroom.
func TestThePolicyLetsProbesReachThePodsOfDarkrooms(t *testing.T) {
	policy, found := byName(kustomizeBuild(t,
		"base+network-policy"))["NetworkPolicy darkroom-system/darkroom-operator-allow-probes"]
	if !found {
		t.Fatal("there is no policy allow-probes")
	}
	rule := convert[networkingv1.NetworkPolicy](t, policy).Spec.Egress[0]
	selector, err := metav1.LabelSelectorAsSelector(rule.To[0].PodSelector)
	must(t, err)
	files, err := renderHelm3(t, filepath.Join(repository, "helm-charts", "darkroom"), "photos",
		parse(t, "source: {type: WebFolder, baseUrl: 'https://example.com'}"))
	must(t, err)
	deployments := decode(t, []byte(files["darkroom/templates/deployment.yaml"]))
	if len(deployments) != 1 {
		t.Fatalf("the chart has %d Deployments", len(deployments))
	}
	pods := podsOf(t, deployments[0])
	if !selector.Matches(labels.Set(pods.Labels)) {
		t.Errorf("the policy selects %s, but the pods have %v", selector, pods.Labels)
	}
	if got, want := pods.Spec.Containers[0].Ports[0].ContainerPort, rule.Ports[0].Port.IntVal; got != want {
		t.Errorf("the pods listen at %d, but the policy allows %d", got, want)
	}
}
