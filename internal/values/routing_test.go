package values

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestRouting(t *testing.T) {
	type table = map[string]any
	policy := func(enabled bool) *darkrooms.Builder {
		return photos().Spec(func(spec *v1alpha1.DarkroomSpec) { spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Enabled: enabled} })
	}
	for name, test := range map[string]struct {
		ingressClass string
		darkroom     *darkrooms.Builder
		want         table
	}{
		"nothing said: the chart's Ingress of the cluster's class": {"", photos(), table{}},
		"both IP families": {"", photos().Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Service = &v1alpha1.Service{IPFamilyPolicy: "PreferDualStack"}
		}), table{"service": table{"ipFamilyPolicy": "PreferDualStack"}}},
		"class of the operator":      {"nginx", photos(), table{"ingress": table{"className": "nginx"}}},
		"class of the Darkroom":      {"", photos().Ingress(v1alpha1.Ingress{ClassName: "traefik"}), table{"ingress": table{"className": "traefik"}}},
		"class of the Darkroom wins": {"nginx", photos().Ingress(v1alpha1.Ingress{ClassName: "traefik"}), table{"ingress": table{"className": "traefik"}}},
		"an Ingress without a class has the operator's": {
			"nginx", photos().Ingress(v1alpha1.Ingress{TLSSecretName: "cert"}),
			table{"ingress": table{"className": "nginx", "tlsSecretName": "cert"}},
		},
		"annotations": {
			"", photos().Ingress(v1alpha1.Ingress{Annotations: map[string]string{"cert-manager.io/cluster-issuer": "acme"}}),
			table{"ingress": table{"annotations": table{"cert-manager.io/cluster-issuer": "acme"}}},
		},
		"a Gateway takes the place of the Ingress, and of its class": {
			"nginx", photos().Gateway("public"),
			table{"ingress": table{"enabled": false}, "gateway": table{"enabled": true, "parentRefs": []any{table{"name": "public"}}}},
		},
		"an Ingress and a Gateway at once, as while migrating": {
			"nginx", photos().Gateway("public").Ingress(v1alpha1.Ingress{TLSSecretName: "cert"}),
			table{
				"ingress": table{"enabled": true, "className": "nginx", "tlsSecretName": "cert"},
				"gateway": table{"enabled": true, "parentRefs": []any{table{"name": "public"}}},
			},
		},
		"annotations and a time limit of the HTTPRoute": {
			"", photos().Gateway("public").Spec(func(spec *v1alpha1.DarkroomSpec) {
				spec.Gateway.Annotations = map[string]string{"cert-manager.io/issuer": "acme"}
				spec.Gateway.Timeouts = &v1alpha1.GatewayTimeouts{Request: "1m30s"}
			}),
			table{"ingress": table{"enabled": false}, "gateway": table{
				"enabled": true, "parentRefs": []any{table{"name": "public"}},
				"annotations": table{"cert-manager.io/issuer": "acme"}, "timeouts": table{"request": "1m30s"},
			}},
		},
		"no time limit said": {
			"", photos().Gateway("public").Spec(func(spec *v1alpha1.DarkroomSpec) {
				spec.Gateway.Timeouts = &v1alpha1.GatewayTimeouts{}
			}),
			table{"ingress": table{"enabled": false}, "gateway": table{"enabled": true, "parentRefs": []any{table{"name": "public"}}}},
		},
		"several Gateways, in the order given": {
			"", photos().Spec(func(spec *v1alpha1.DarkroomSpec) {
				spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{
					{Name: "public", Namespace: "gateways", SectionName: "https"}, {Name: "internal"},
				}}
			}),
			table{"ingress": table{"enabled": false}, "gateway": table{"enabled": true, "parentRefs": []any{
				table{"name": "public", "namespace": "gateways", "sectionName": "https"}, table{"name": "internal"},
			}}},
		},
		"a Gateway of as many hosts as an HTTPRoute holds": {
			"", photos().Gateway("public").SubDomains(subDomains(16)...),
			table{"ingress": table{"enabled": false}, "gateway": table{"enabled": true, "parentRefs": []any{table{"name": "public"}}}},
		},
		"an Ingress of more hosts than an HTTPRoute holds": {"", photos().SubDomains(subDomains(64)...), table{}},
		"network policy":             {"", policy(true), table{"networkPolicy": table{"enabled": true}}},
		"network policy not enabled": {"", policy(false), table{}},
	} {
		t.Run(name, func(t *testing.T) {
			values := valuesOf(t, test.darkroom.Obj(), Options{IngressClassName: test.ingressClass})
			got := table{}
			for _, key := range []string{"ingress", "gateway", "service", "networkPolicy"} {
				if value, written := values[key]; written {
					got[key] = value
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRoutesThatCannotBeAreRefused(t *testing.T) {
	refusals{
		"reserved annotations": {
			gatewayWith(func(gateway *v1alpha1.Gateway) {
				gateway.Annotations = map[string]string{
					"helm.sh/hook": "pre-install", "meta.helm.sh/release-name": "other", v1alpha1.LabelDarkroom: "other", "Helm.sh/hook": "",
				}
			}),
			map[string]string{
				"spec.gateway.annotations[helm.sh/hook]":                     "reserved",
				"spec.gateway.annotations[Helm.sh/hook]":                     "reserved",
				"spec.gateway.annotations[meta.helm.sh/release-name]":        "reserved",
				"spec.gateway.annotations[deployments.example.com/darkroom]": "reserved",
			},
		},
		"a key that no annotation has": {
			gatewayWith(func(gateway *v1alpha1.Gateway) { gateway.Annotations = map[string]string{"a b": ""} }),
			map[string]string{"spec.gateway.annotations[a b]": "must be the key of an annotation"},
		},
	}.check(t)
}

// gatewayWith is a Darkroom with a Gateway, after a change.
func gatewayWith(change func(*v1alpha1.Gateway)) *darkrooms.Builder {
	return photos().Gateway("public").Spec(func(spec *v1alpha1.DarkroomSpec) { change(spec.Gateway) })
}

func subDomains(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("photos-%02d", i))
	}
	return names
}
