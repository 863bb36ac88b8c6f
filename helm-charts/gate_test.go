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

// The first container is that of Darkroom: kubectl logs, the operator and the REST API read it.
func TestTheGateHasTheSourceAndDarkroomHasNot(t *testing.T) {
	darkroom, gate := containersOf(t, deploymentOf(t, withGate))
	if len(darkroom.EnvFrom) != 0 {
		t.Errorf("Darkroom reads %v", darkroom.EnvFrom)
	}
	for _, variable := range darkroom.Env {
		if (variable.ValueFrom != nil && variable.ValueFrom.ResourceFieldRef == nil) || strings.Contains(variable.Name, "BUCKET") || strings.Contains(variable.Name, "PROXY") {
			t.Errorf("Darkroom has %s", variable.Name)
		}
	}
	has := map[string]bool{}
	for _, variable := range gate.Env {
		has[variable.Name] = true
	}
	for _, name := range []string{"SOURCE_BUCKET_ACCESSKEY", "SOURCE_BUCKET_SECRETKEY", "HTTPS_PROXY", "GATE_MEMORY_LIMIT", "GATE_DARKROOM_MEMORY_LIMIT"} {
		if !has[name] {
			t.Errorf("the gate has no %s", name)
		}
	}
	if len(gate.EnvFrom) != 2 {
		t.Errorf("the gate reads %v", gate.EnvFrom)
	}
}

func TestTheGateHasThePortOfImages(t *testing.T) {
	darkroom, gate := containersOf(t, deploymentOf(t, withGate))
	if gate.Ports[0].Name != "http" || gate.Ports[0].ContainerPort != 3000 || darkroom.Ports[0].Name == "http" || darkroom.Ports[0].ContainerPort == 3000 {
		t.Errorf("ports: gate %v, darkroom %v", gate.Ports, darkroom.Ports)
	}
	for _, values := range []string{withGate, withGate + "gateway: {enabled: true, parentRefs: [{name: public}]}"} {
		rendered := objectsOf(t, values)
		if services := all[*corev1.Service](rendered); len(services) != 1 {
			t.Errorf("%d Services", len(services))
		}
		for _, ingress := range all[*networkingv1.Ingress](rendered) {
			if paths := ingress.Spec.Rules[0].HTTP.Paths; len(paths) != 1 {
				t.Errorf("paths %v", paths)
			}
		}
	}
}

func TestProbesGoThroughTheGate(t *testing.T) {
	for name, values := range map[string]string{"with an image": withGate + "probe: {path: /cat.jpg}", "without an image": withGate} {
		darkroom, gate := containersOf(t, deploymentOf(t, values))
		if darkroom.StartupProbe != nil || darkroom.ReadinessProbe != nil {
			t.Errorf("%s: Darkroom's own probes take the pod out of the Service while cached images can be served", name)
		}
		want := "/readyz"
		if name == "with an image" {
			want = "/cat.jpg?w=16"
		}
		if got := gate.StartupProbe.HTTPGet.Path; got != want {
			t.Errorf("%s: startup probe of %s, want %s", name, got, want)
		}
	}
}

func TestTheGateDrainsBeforeDarkroom(t *testing.T) {
	darkroom, gate := containersOf(t, deploymentOf(t, withGate))
	if gate, darkroom := gate.Lifecycle.PreStop.Sleep.Seconds, darkroom.Lifecycle.PreStop.Sleep.Seconds; darkroom <= gate {
		t.Errorf("the gate stops after %d s, Darkroom after %d s", gate, darkroom)
	}
	if _, err := tryRender(mustLoad(t), releaseName, withGate+"terminationGracePeriodSeconds: 25"); err == nil || !strings.Contains(err.Error(), "15 seconds") {
		t.Errorf("error %v", err)
	}
}

// A pod is not ready while one of its containers does not run.
func TestACrashOfDarkroomDoesNotEndItsContainer(t *testing.T) {
	deployment := deploymentOf(t, withGate)
	darkroom, _ := containersOf(t, deployment)
	installers := deployment.Spec.Template.Spec.InitContainers
	if len(installers) != 1 || len(installers[0].VolumeMounts) != 1 || len(darkroom.VolumeMounts) != 1 {
		t.Fatalf("init containers %v, mounts of Darkroom %v", installers, darkroom.VolumeMounts)
	}
	from, to := installers[0].VolumeMounts[0], darkroom.VolumeMounts[0]
	if from.Name != to.Name || installers[0].Args[1] != from.MountPath+"/gate" || darkroom.Command[0] != to.MountPath+"/gate" || darkroom.Command[1] != "supervise" {
		t.Errorf("installed to %v as %v, run from %v as %v", from, installers[0].Args, to, darkroom.Command)
	}
	if installers[0].SecurityContext == nil || installers[0].Resources.Limits.Memory().IsZero() {
		t.Errorf("the init container has security context %v and resources %v", installers[0].SecurityContext, installers[0].Resources)
	}
}

func TestOnlyTheGateHasTheIdentityOfThePods(t *testing.T) {
	for kind, networks := range map[string]string{"S3": "169.254.170.23/32", "GoogleCloudStorage": "169.254.169.254/32"} {
		values := `{source: {type: ` + kind + `, bucket: {name: b, region: r}, auth: WorkloadIdentity}, gate: {enabled: true}, networkPolicy: {enabled: true}}`
		rendered := objectsOf(t, values)
		template := deploymentOf(t, values).Spec.Template
		if got := template.Annotations["eks.amazonaws.com/skip-containers"]; (got == "darkroom,gate-install") != (kind == "S3") {
			t.Errorf("%s: containers without the identity: %q", kind, got)
		}
		if only[*corev1.ConfigMap](t, rendered).Data["GATE_WORKLOAD_IDENTITY"] != "true" || len(all[*corev1.Secret](rendered)) != 0 {
			t.Errorf("%s: the gate needs a Secret, or has no identity", kind)
		}
		policy := only[*networkingv1.NetworkPolicy](t, rendered).Spec
		if last := policy.Egress[len(policy.Egress)-1]; !strings.Contains(fmt.Sprint(last.To), networks) && !strings.Contains(last.String(), networks) {
			t.Errorf("%s: egress %v", kind, last)
		}
	}
}

// The networks of metadata services are one list. The gate has others, which belong to no host.
func TestTheGateAndTheNetworkPolicyBlockTheSameMetadataServices(t *testing.T) {
	guard, err := os.ReadFile("../gate/source/guard.go")
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{}
	for _, line := range regexp.MustCompile(`\t"(\S+)", +// .*(?:metadata|Azure)`).FindAllStringSubmatch(string(guard), -1) {
		refused[line[1]] = true
	}
	blocked := map[string]bool{}
	policy := only[*networkingv1.NetworkPolicy](t, objectsOf(t, `{networkPolicy: {enabled: true}}`)).Spec
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
