package charts

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

const withGate = `
source: {type: S3, bucket: {name: b, region: r}, credentials: {existingSecret: {name: s3}}}
hosts: [photos.example.com]
extraEnv: [{name: HTTPS_PROXY, value: "http://proxy:3128"}]
extraEnvFrom: [{secretRef: {name: more}}]
gate: {enabled: true}
`

func containersOf(t *testing.T, deployment *appsv1.Deployment) (darkroom, gate corev1.Container) {
	t.Helper()
	containers := deployment.Spec.Template.Spec.Containers
	if len(containers) != 2 || containers[0].Name != "darkroom" || containers[1].Name != "gate" {
		t.Fatalf("containers %v", containers)
	}
	return containers[0], containers[1]
}

// Darkroom must be the first container, because kubectl logs, the operator and the REST API read the first one.
func TestTheGateHasTheSourceAndDarkroomHasNot(t *testing.T) {
	darkroom, gate := containersOf(t, deploymentOf(t, withGate))
	if len(darkroom.EnvFrom) != 0 {
		t.Errorf("Darkroom reads %v", darkroom.EnvFrom)
	}
	for _, variable := range darkroom.Env {
		if (variable.ValueFrom != nil && variable.ValueFrom.ResourceFieldRef == nil) ||
			strings.Contains(variable.Name, "BUCKET") || strings.Contains(variable.Name, "PROXY") {
			t.Errorf("Darkroom has %s", variable.Name)
		}
	}
	has := map[string]bool{}
	for _, variable := range gate.Env {
		has[variable.Name] = true
	}
	for _, name := range []string{
		"SOURCE_BUCKET_ACCESSKEY", "SOURCE_BUCKET_SECRETKEY", "HTTPS_PROXY", "GATE_MEMORY_LIMIT",
		"GATE_DARKROOM_MEMORY_LIMIT",
	} {
		if !has[name] {
			t.Errorf("the gate has no %s", name)
		}
	}
	if len(gate.EnvFrom) != 2 {
		t.Errorf("the gate reads %v", gate.EnvFrom)
	}
}

func TestOnlyTheGateHasTheIdentityOfThePods(t *testing.T) {
	for kind, networks := range map[string]string{"S3": "169.254.170.23/32", "GoogleCloudStorage": "169.254.169.254/32"} {
		values := `{source: {type: ` + kind +
			`, bucket: {name: b, region: r}, auth: WorkloadIdentity}, gate: {enabled: true}, networkPolicy: {enabled: true}}`
		rendered := objectsOf(t, values)
		template := deploymentOf(t, values).Spec.Template
		got := template.Annotations["eks.amazonaws.com/skip-containers"]
		if (got == "darkroom,gate-install") != (kind == "S3") {
			t.Errorf("%s: containers without the identity: %q", kind, got)
		}
		if manifests.Only[*corev1.ConfigMap](t, rendered).Data["GATE_WORKLOAD_IDENTITY"] != "true" ||
			len(manifests.All[*corev1.Secret](rendered)) != 0 {
			t.Errorf("%s: the gate needs a Secret, or has no identity", kind)
		}
		policy := manifests.Only[*networkingv1.NetworkPolicy](t, rendered).Spec
		last := policy.Egress[len(policy.Egress)-1]
		if !strings.Contains(fmt.Sprint(last.To), networks) && !strings.Contains(last.String(), networks) {
			t.Errorf("%s: egress %v", kind, last)
		}
	}
}

// The networks of metadata services and the link-local networks form one list. The gate refuses additional networks,
// which belong to no host.
func TestTheGateAndTheNetworkPolicyBlockTheSameMetadataServices(t *testing.T) {
	guard, err := os.ReadFile("../gate/source/guard.go")
	expect.NoError(t, err)
	refused := map[string]bool{}
	for _, line := range regexp.MustCompile(`\t"(\S+)", +// .*(?:link-local|metadata|Azure)`).
		FindAllStringSubmatch(string(guard), -1) {
		refused[line[1]] = true
	}
	blocked := map[string]bool{}
	policy := manifests.Only[*networkingv1.NetworkPolicy](t, objectsOf(t, `{networkPolicy: {enabled: true}}`)).Spec
	for _, rule := range policy.Egress {
		for _, peer := range rule.To {
			if peer.IPBlock == nil {
				continue
			}
			for _, network := range peer.IPBlock.Except {
				blocked[network] = true
			}
		}
	}
	if len(refused) == 0 || !maps.Equal(refused, blocked) {
		t.Errorf("the gate refuses %v, the NetworkPolicy blocks %v", refused, blocked)
	}
}
