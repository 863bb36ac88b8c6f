package install

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// defaultAddresses are the addresses at which the programs listen unless a flag sets another.
var defaultAddresses = map[string]string{
	"metrics-bind-address":      ":8443",
	"health-probe-bind-address": ":8081", "bind-address": ":5000",
}

// If an address is changed or disabled, the ports of the container, its probes, its Service and the scrape
// configuration must change with it. The test tries all values that are addresses.
func TestPortsFollowTheAddresses(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(repository, "charts", "darkroom-operator", "values.yaml"))
	must(t, err)
	walked := 0
	for component, values := range parse(t, string(raw)) {
		fields, _ := values.(map[string]any)
		for field := range fields {
			if !strings.HasSuffix(strings.ToLower(field), "bindaddress") {
				continue
			}
			walked++
			for _, address := range []string{":9999", "0.0.0.0:9999", "127.0.0.1:9999", "0"} {
				if component == "apiserver" && address == "0" {
					continue // it has nothing else to do
				}
				values := map[string]string{
					"manager":   "{serviceMonitor: {enabled: true}, apiserver: {enabled: true}, manager: {%s: %q}}",
					"apiserver": "{serviceMonitor: {enabled: true}, apiserver: {enabled: true, %s: %q}}",
				}[component]
				values = fmt.Sprintf(values, field, address)
				isProbed := component == "apiserver" || field == "healthProbeBindAddress"
				if isProbed && strings.HasPrefix(address, "127.") {
					_, err := renderChart(t, "darkroom-operator", values)
					want := component + "." + field + ": the kubelet's probes cannot reach 127.0.0.1:9999"
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: pods whose probes fail are installed: %v", values, err)
					}
					continue
				}
				checkPorts(t, values, mustRender(t, values))
			}
		}
	}
	if walked < 4 {
		t.Errorf("%d addresses were found", walked)
	}
}

// arguments returns the arguments of containers.
var arguments = regexp.MustCompile(`(?m)^ *- "?--.*\n`)

// If extraEnv sets the variable of a flag instead of the value, no inconsistent objects may result. The test tries all
// values that change more than the arguments of their container.
func TestVariablesOfFlagsLeaveNothingBehind(t *testing.T) {
	chart, schema := loadChart(t, "charts/darkroom-operator")
	const full = "{apiserver: {enabled: true}, serviceMonitor: {enabled: true}, rbac: {namespaced: true}}"
	before, err := documentsOf(chart, parse(t, full))
	must(t, err)
	walked := 0
	for _, component := range []string{"manager", "apiserver"} {
		for name := range schema.at(schema, []string{component}).Properties {
			flag := strings.ToLower(regexp.MustCompile(`[A-Z]`).ReplaceAllString(name, "-$0"))
			isFlag, isFollowed := name == "watchNamespaces", false
			for _, value := range []any{":9999", "0", "apiserver", "a", true, false, []any{"a"}} {
				values := parse(t, full)
				at, name := place(values, []string{component, name})
				at[name] = value
				after, err := documentsOf(chart, values)
				isFlag = isFlag || strings.Contains(after, "--"+flag)
				isFollowed = isFollowed || err == nil &&
					arguments.ReplaceAllString(after, "") != arguments.ReplaceAllString(before, "")
			}
			if !isFlag || !isFollowed {
				continue
			}
			walked++
			variable := "DARKROOM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
			values := parse(t, full)
			at, env := place(values, []string{component, "extraEnv"})
			at[env] = []any{map[string]any{"name": variable, "value": "a"}}
			if _, err := documentsOf(chart, values); err == nil || !strings.Contains(err.Error(), component+".extraEnv: "+variable) {
				t.Errorf("objects depend on %s.%s but not on %s: %v", component, name, variable, err)
			}
		}
	}
	if walked < 8 {
		t.Errorf("%d values were found", walked)
	}
}

// checkPorts fails unless the ports of all containers equal the ones in their flags, and every reference to a port has
// one.
func checkPorts(t *testing.T, values string, objects map[string]*unstructured.Unstructured) {
	t.Helper()
	ports, services := map[string][]string{}, map[string][]string{}
	for name, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		container := podsOf(t, object).Spec.Containers[0]
		listens := listened(container)
		for _, port := range container.Ports {
			component := object.GetLabels()["app.kubernetes.io/component"]
			ports[component] = append(ports[component], port.Name)
			if !slices.Contains(listens, int(port.ContainerPort)) {
				t.Errorf("%s: %s has the port %s %d, but listens at %v", values, name, port.Name, port.ContainerPort, listens)
			}
		}
		for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe} {
			if probe != nil && !slices.Contains(ports[object.GetLabels()["app.kubernetes.io/component"]],
				probe.HTTPGet.Port.StrVal) {
				t.Errorf("%s: %s is probed at the port %s, which it does not have", values, name, probe.HTTPGet.Port.StrVal)
			}
		}
	}
	for name, object := range objects {
		if object.GetKind() != "Service" {
			continue
		}
		service := convert[corev1.Service](t, object)
		component := service.Spec.Selector["app.kubernetes.io/component"]
		for _, port := range service.Spec.Ports {
			services[component] = append(services[component], port.Name)
			if !slices.Contains(ports[component], port.TargetPort.StrVal) {
				t.Errorf("%s: %s leads to the port %s, which no pod has", values, name, port.TargetPort.StrVal)
			}
		}
	}
	for name, object := range objects {
		if object.GetKind() != "ServiceMonitor" {
			continue
		}
		component, _, _ := unstructured.NestedString(object.Object, "spec", "selector", "matchLabels",
			"app.kubernetes.io/component")
		endpoints, _, _ := unstructured.NestedSlice(object.Object, "spec", "endpoints")
		for _, endpoint := range endpoints {
			if port, _ := endpoint.(map[string]any)["port"].(string); !slices.Contains(services[component], port) {
				t.Errorf("%s: %s scrapes the port %s, which no Service has", values, name, port)
			}
		}
	}
}

// listened returns the ports at which the program in a container listens.
func listened(container corev1.Container) (ports []int) {
	addresses := maps.Clone(defaultAddresses)
	for _, arg := range container.Args {
		flag, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if strings.HasSuffix(flag, "bind-address") {
			addresses[flag] = value
		}
	}
	for _, address := range addresses {
		if port, err := strconv.Atoi(address[strings.LastIndex(address, ":")+1:]); err == nil && port > 0 {
			ports = append(ports, port)
		}
	}
	return ports
}

// Anyone can scrape metrics without TLS, so a scraper must not send its token there.
func TestPlainMetricsAreScrapedWithoutAToken(t *testing.T) {
	for values, scheme := range map[string]string{
		"": "https", "manager: {metricsSecure: true}": "https",
		"manager: {metricsSecure: false}": "http",
	} {
		monitor := mustRender(t, "serviceMonitor: {enabled: true}\n"+
			values)["ServiceMonitor darkroom-system/darkroom-operator-controller-manager-metrics-monitor"]
		endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
		must(t, err)
		endpoint, _ := endpoints[0].(map[string]any)
		if endpoint["scheme"] != scheme || (endpoint["bearerTokenFile"] != nil) != (scheme == "https") ||
			(endpoint["tlsConfig"] != nil) != (scheme == "https") {
			t.Errorf("with %q, the endpoint is %v", values, endpoint)
		}
	}
}

// In namespaced installations, each component has a Role in each namespace that it watches.
func TestEachComponentMayReadWhatItWatches(t *testing.T) {
	for _, values := range []string{
		"{rbac: {namespaced: true}}",
		"{rbac: {namespaced: true}, manager: {watchNamespaces: [a, b]}}",
		"{rbac: {namespaced: true}, apiserver: {enabled: true, watchNamespaces: [c]}}",
		"{rbac: {namespaced: true}, manager: {watchNamespaces: [a, b]}, apiserver: {enabled: true, watchNamespaces: [b, c]}}",
	} {
		objects := mustRender(t, values)
		bound := map[string][]string{}
		for _, object := range objects {
			name := object.GetName()
			ofLeases := strings.Contains(name, "leader-election") || strings.Contains(name, "lease-rolebinding")
			if object.GetKind() == "RoleBinding" && !ofLeases {
				account := convert[rbacv1.RoleBinding](t, object).Subjects[0].Name
				bound[account] = append(bound[account], object.GetNamespace())
			}
		}
		for name, object := range objects {
			if object.GetKind() != "Deployment" {
				continue
			}
			pods := podsOf(t, object).Spec
			watched := strings.Split(pods.Containers[0].Env[0].Value, ",")
			slices.Sort(watched)
			if may := bound[pods.ServiceAccountName]; !slices.Equal(slices.Sorted(slices.Values(may)), watched) {
				t.Errorf("%s: %s watches %v, and has Roles in %v", values, name, watched, may)
			}
		}
	}
}

// Without leader election, two managers would change the same Darkrooms.
func TestManagersWithoutLeaderElectionAreNeverTwo(t *testing.T) {
	_, err := renderChart(t, "darkroom-operator", "manager: {leaderElect: false, replicas: 2}")
	if err == nil || !strings.Contains(err.Error(), "manager.leaderElect") {
		t.Errorf("two replicas are refused with %v", err)
	}
	for values, want := range map[string]appsv1.DeploymentStrategyType{
		"":                              "",
		"manager: {leaderElect: false}": appsv1.RecreateDeploymentStrategyType,
	} {
		manager := mustRender(t, values)["Deployment darkroom-system/darkroom-operator-controller-manager"]
		if got := convert[appsv1.Deployment](t, manager).Spec.Strategy.Type; got != want {
			t.Errorf("with %q, the strategy is %q", values, got)
		}
	}
}
