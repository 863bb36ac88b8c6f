package charts

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// Darkroom serves /metrics even when metrics are disabled (empty then). The label is one that must
// not put the pods behind the Service that leads nowhere.
func TestMetricsAreNotRouted(t *testing.T) {
	type path struct {
		Path, Type string
		Pods       bool
	}
	const hosts = `hosts: [a.example.com, b.example.com], podLabels: {app.kubernetes.io/component: blocked}`
	rendered := objectsOf(t, `{`+hosts+`, metrics: {enabled: false}}`)
	for _, rule := range manifests.Only[*networkingv1.Ingress](t, rendered).Spec.Rules {
		var got []path
		for _, p := range rule.HTTP.Paths {
			got = append(got, path{p.Path, string(*p.PathType), reachesPods(t, rendered, p.Backend.Service.Name)})
		}
		expect.Equal(t, "Ingress, "+rule.Host, []path{{"/metrics", "Exact", false}, {"/", "Prefix", true}}, got)
	}
	rendered = objectsOf(t, `{`+hosts+`, gateway: {enabled: true, parentRefs: [{name: public}]}}`)
	var got []path
	for _, rule := range manifests.Only[*gatewayv1.HTTPRoute](t, rendered).Spec.Rules {
		match := rule.Matches[0].Path
		got = append(got, path{*match.Value, string(*match.Type), reachesPods(t, rendered, string(rule.BackendRefs[0].Name))})
	}
	expect.Equal(t, "HTTPRoute", []path{{"/metrics", "Exact", false}, {"/", "PathPrefix", true}}, got)
}

func reachesPods(t *testing.T, rendered []client.Object, serviceName string) bool {
	t.Helper()
	pods := manifests.Only[*appsv1.Deployment](t, rendered).Spec.Template.Labels
	for _, service := range manifests.All[*corev1.Service](rendered) {
		if service.Name == serviceName {
			if len(service.Spec.Selector) == 0 {
				t.Errorf("Service %s has no selector, hence no Endpoints object, and Traefik drops its rule", serviceName)
			}
			return selects(service.Spec.Selector, pods)
		}
	}
	// A rule whose backend is missing is dropped by some controllers, and "/" takes over.
	t.Errorf("Service %s does not exist", serviceName)
	return false
}
