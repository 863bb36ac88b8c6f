package charts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Darkroom serves /metrics even when metrics are disabled (empty then).
func TestMetricsAreNotRouted(t *testing.T) {
	type path struct {
		Path, Type string
		Pods       bool
	}
	const hosts = `hosts: [a.example.com, b.example.com]`
	rendered := objectsOf(t, `{`+hosts+`, metrics: {enabled: false}}`)
	for _, rule := range only[*networkingv1.Ingress](t, rendered).Spec.Rules {
		var got []path
		for _, p := range rule.HTTP.Paths {
			got = append(got, path{p.Path, string(*p.PathType), reachesPods(t, rendered, p.Backend.Service.Name)})
		}
		if diff := cmp.Diff([]path{{"/metrics", "Exact", false}, {"/", "Prefix", true}}, got); diff != "" {
			t.Errorf("Ingress, %s (-want +got):\n%s", rule.Host, diff)
		}
	}
	rendered = objectsOf(t, `{`+hosts+`, gateway: {enabled: true, parentRefs: [{name: public}]}}`)
	var got []path
	for _, rule := range only[*gatewayv1.HTTPRoute](t, rendered).Spec.Rules {
		match := rule.Matches[0].Path
		got = append(got, path{*match.Value, string(*match.Type), reachesPods(t, rendered, string(rule.BackendRefs[0].Name))})
	}
	if diff := cmp.Diff([]path{{"/metrics", "Exact", false}, {"/", "PathPrefix", true}}, got); diff != "" {
		t.Errorf("HTTPRoute (-want +got):\n%s", diff)
	}
}

func reachesPods(t *testing.T, rendered objects, serviceName string) bool {
	t.Helper()
	pods := only[*appsv1.Deployment](t, rendered).Spec.Template.Labels
	for _, service := range all[*corev1.Service](rendered) {
		if service.Name == serviceName {
			if len(service.Spec.Selector) == 0 {
				t.Errorf("Service %s has no selector, hence no Endpoints object, and Traefik drops its rule", serviceName)
			}
			return matches(service.Spec.Selector, pods)
		}
	}
	// A rule whose backend is missing is dropped by some controllers, and "/" takes over.
	t.Errorf("Service %s does not exist", serviceName)
	return false
}

func TestPodLabelsCannotOpenTheBlockedService(t *testing.T) {
	rendered := objectsOf(t, `{hosts: [a.example.com], podLabels: {app.kubernetes.io/component: blocked}}`)
	blocked := only[*networkingv1.Ingress](t, rendered).Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name
	if reachesPods(t, rendered, blocked) {
		t.Error("podLabels put the pods behind the Service that must lead nowhere")
	}
}
