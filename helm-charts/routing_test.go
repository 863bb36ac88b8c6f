package charts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func TestKindsOfRoutes(t *testing.T) {
	const gateway = `gateway: {enabled: true, parentRefs: [{name: public}]}`
	for name, test := range map[string]struct {
		values                        string
		ingresses, httpRoutes, blocks int
	}{
		"no host":                    {``, 0, 0, 0},
		"neither":                    {`{hosts: [a.example.com], ingress: {enabled: false}}`, 0, 0, 0},
		"HTTPRoute, Ingress refused": {`{hosts: [a.example.com], ingress: {enabled: false}, ` + gateway + `}`, 0, 1, 1},
		"HTTPRoute and Ingress":      {`{hosts: [a.example.com], ingress: {enabled: true}, ` + gateway + `}`, 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rendered := objectsOf(t, test.values)
			got := []int{
				len(all[*networkingv1.Ingress](rendered)),
				len(all[*gatewayv1.HTTPRoute](rendered)),
				len(all[*corev1.Service](rendered)) - 1,
			}
			if diff := cmp.Diff([]int{test.ingresses, test.httpRoutes, test.blocks}, got); diff != "" {
				t.Errorf("Ingresses, HTTPRoutes, Services that lead nowhere (-want +got):\n%s", diff)
			}
		})
	}
}

// Darkroom serves /metrics even when metrics are disabled (empty then), so the
// route does not depend on metrics.enabled.
func TestMetricsAreNotRouted(t *testing.T) {
	const hosts = `hosts: [a.example.com, b.example.com]`
	for name, metrics := range map[string]string{"metrics enabled": "true", "metrics disabled": "false"} {
		t.Run(name+", Ingress", func(t *testing.T) {
			rendered := objectsOf(t, `{`+hosts+`, metrics: {enabled: `+metrics+`}}`)
			rules := only[*networkingv1.Ingress](t, rendered).Spec.Rules
			if len(rules) != 2 {
				t.Fatalf("want a rule per host, got %d", len(rules))
			}
			for _, rule := range rules {
				type path struct {
					Path, Type string
					Pods       bool
				}
				var got []path
				for _, p := range rule.HTTP.Paths {
					got = append(got, path{p.Path, string(*p.PathType), reachesPods(t, rendered, p.Backend.Service.Name)})
				}
				if diff := cmp.Diff([]path{{"/metrics", "Exact", false}, {"/", "Prefix", true}}, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", rule.Host, diff)
				}
			}
		})
		t.Run(name+", HTTPRoute", func(t *testing.T) {
			rendered := objectsOf(t, `{`+hosts+`, metrics: {enabled: `+metrics+`}, gateway: {enabled: true, parentRefs: [{name: public}]}}`)
			type match struct {
				Path, Type string
				Pods       bool
			}
			var got []match
			for _, rule := range only[*gatewayv1.HTTPRoute](t, rendered).Spec.Rules {
				path := rule.Matches[0].Path
				got = append(got, match{*path.Value, string(*path.Type), reachesPods(t, rendered, string(rule.BackendRefs[0].Name))})
			}
			if diff := cmp.Diff([]match{{"/metrics", "Exact", false}, {"/", "PathPrefix", true}}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
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

func TestNetworkPolicyKeepsPodsFromTheNodesIdentity(t *testing.T) {
	policy := only[*networkingv1.NetworkPolicy](t, objectsOf(t, `{networkPolicy: {enabled: true}}`)).Spec
	var blocks []networkingv1.IPBlock
	for _, rule := range policy.Egress {
		for _, peer := range rule.To {
			if peer.IPBlock != nil {
				blocks = append(blocks, *peer.IPBlock)
			}
		}
	}
	want := []networkingv1.IPBlock{
		{CIDR: "0.0.0.0/0", Except: []string{"169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.0/24"}},
		{CIDR: "::/0", Except: []string{"fd00:ec2::/32", "fd20:ce::254/128", "fd00:c1::/32", "fd00:42::/32"}},
	}
	if diff := cmp.Diff(want, blocks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
