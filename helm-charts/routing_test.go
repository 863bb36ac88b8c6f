package charts

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// Darkroom serves an empty /metrics even if metrics are disabled. This label must not make the Service without
// endpoints select the pods.
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
				t.Errorf("Service %s has no selector, so it has no Endpoints object, and Traefik drops its rule", serviceName)
			}
			return selects(service.Spec.Selector, pods)
		}
	}
	// Some controllers drop a rule whose backend is missing, and "/" matches instead.
	t.Errorf("Service %s does not exist", serviceName)
	return false
}

// onOpenShift renders the chart for a cluster that serves OpenShift's API groups.
func onOpenShift(t *testing.T, values string) []client.Object {
	t.Helper()
	rendered, err := tryRender(mustLoad(t), releaseName, values, "security.openshift.io/v1", "route.openshift.io/v1")
	expect.NoError(t, err)
	return decode(t, rendered)
}

func TestOpenShiftChoosesTheUser(t *testing.T) {
	template := func(all []client.Object) (user, group, fsGroup *int64) {
		context := manifests.Only[*appsv1.Deployment](t, all).Spec.Template.Spec.SecurityContext
		if !ptr.Deref(context.RunAsNonRoot, false) || context.SeccompProfile == nil {
			t.Errorf("the rest of the security context is lost: %+v", context)
		}
		return context.RunAsUser, context.RunAsGroup, context.FSGroup
	}
	user, group, fsGroup := template(objectsOf(t, ""))
	if ptr.Deref(user, 0) != 65532 || ptr.Deref(group, 0) != 65532 || ptr.Deref(fsGroup, 0) != 65532 {
		t.Errorf("on other clusters the IDs are %v, %v and %v, want 65532", user, group, fsGroup)
	}
	if user, group, fsGroup := template(onOpenShift(t, "")); user != nil || group != nil || fsGroup != nil {
		t.Errorf("the IDs are %v, %v and %v, want none", user, group, fsGroup)
	}
	for _, pod := range manifests.All[*corev1.Pod](onOpenShift(t, "")) {
		if context := pod.Spec.SecurityContext; context.RunAsUser != nil || context.RunAsGroup != nil {
			t.Errorf("the pod %s of helm test has the IDs %v and %v", pod.Name, context.RunAsUser, context.RunAsGroup)
		}
	}
	user, _, fsGroup = template(onOpenShift(t, `{podSecurityContext: {runAsUser: 1000650000}}`))
	if ptr.Deref(user, 0) != 1000650000 || fsGroup != nil {
		t.Errorf("the user is %v and the group of volumes %v, want the user that was set", user, fsGroup)
	}
}

// routesOf converts an Ingress in the same way as OpenShift's controller: to a Route for each path, where only paths of
// the types Prefix and ImplementationSpecific count.
func routesOf(ingress *networkingv1.Ingress) map[string]string {
	routes := map[string]string{}
	for _, rule := range ingress.Spec.Rules {
		for _, path := range rule.HTTP.Paths {
			if ptr.Deref(path.PathType, networkingv1.PathTypeExact) != networkingv1.PathTypeExact {
				routes[rule.Host+path.Path] = path.Backend.Service.Name
			}
		}
	}
	return routes
}

func TestMetricsAreNotPublicOnOpenShift(t *testing.T) {
	const hosts = `{hosts: [photos.example.com]}`
	blocked := routesOf(manifests.Only[*networkingv1.Ingress](t, onOpenShift(t, hosts)))["photos.example.com/metrics"]
	if blocked == "" || blocked == releaseName+"-darkroom" {
		t.Errorf("/metrics leads to %q", blocked)
	}
	routes := routesOf(manifests.Only[*networkingv1.Ingress](t, objectsOf(t, hosts)))
	if routes["photos.example.com/metrics"] != "" {
		t.Errorf("on other clusters the path is exact: %v", routes)
	}
}
