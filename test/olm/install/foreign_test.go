package install

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// foreignDefinitions are substitutes for the CRDs of the Prometheus Operator and
// cert-manager. They accept what the real ones accept, and more.
func foreignDefinitions() []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, kind := range []struct{ group, plural, kind string }{
		{"monitoring.coreos.com", "servicemonitors", "ServiceMonitor"},
		{"monitoring.coreos.com", "prometheusrules", "PrometheusRule"},
		{"cert-manager.io", "issuers", "Issuer"},
		{"cert-manager.io", "certificates", "Certificate"},
	} {
		all = append(all, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: kind.plural + "." + kind.group},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: kind.group,
				Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: kind.plural, Kind: kind.kind},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
						Type: "object", XPreserveUnknownFields: ptr.To(true),
					}},
				}},
			},
		})
	}
	return all
}
