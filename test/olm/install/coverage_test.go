package install

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// costly are the fields with which the author of a Darkroom can use resources of others, each with a spec that the
// policies deny.
var costly = map[string]string{
	"replicas":                   "replicas: 1000",
	"autoscaling.maxReplicas":    "autoscaling: {maxReplicas: 1000}",
	"resources.limits.*":         "resources: {limits: {memory: 500Gi}}",
	"resources.requests.*":       "resources: {requests: {cpu: 500}}",
	"gate.resources.limits.*":    "gate: {resources: {limits: {memory: 500Gi}}}",
	"gate.resources.requests.*":  "gate: {resources: {requests: {ephemeral-storage: 500Gi}}}",
	"gate.cache.disk":            "gate: {cache: {disk: 900Gi}}",
	"gate.limits.maxSourceBytes": "gate: {limits: {maxSourceBytes: 500Gi}}",
	"image.repository":           "image: {repository: docker.io/evil/darkroom}",
	"source.baseUrl":             "source: {baseUrl: 'http://169.254.169.254/'}",
	"source.endpoint": "source: {type: S3, bucket: b, region: r, endpoint: 'http://169.254.169.254', " +
		"credentialsSecretRef: {name: keys}}",
	"source.host":                      "source: {type: CloudFront, host: evil.example.org}",
	"extraEnv[].name":                  "extraEnv: [{name: SOURCE_BASEURL, value: 'http://169.254.169.254/'}]",
	"extraEnv[].value":                 "extraEnv: [{name: HTTP_PROXY, value: 'http://192.0.2.1/'}]",
	"extraEnvFrom[].configMapRef.name": "extraEnvFrom: [{configMapRef: {name: any}}]",
	"extraEnvFrom[].secretRef.name":    "extraEnvFrom: [{secretRef: {name: any}}]",
	"extraEnvFrom[].prefix":            "extraEnvFrom: [{prefix: HTTP_, secretRef: {name: any}}]",
}

// Additional sources have the same fields as the source.
func init() {
	for path, spec := range maps.Clone(costly) {
		if field, ok := strings.CutPrefix(path, "source."); ok {
			fields := strings.TrimPrefix(spec, "source: {")
			costly["additionalSources[]."+field] = "gate: {}\nadditionalSources: [{name: other, fallback: true, " +
				strings.TrimSuffix(fields, "}") + "}]"
		}
	}
}

// harmless are similar fields without a policy, and the reason.
var harmless = map[string]string{
	"autoscaling.minReplicas": "at most maxReplicas, by a rule of the CRD",
	"autoscaling.behavior":    "how fast replicas change within their bounds",
	"extraEnv[].valueFrom":    "the name decides whether the variable is allowed",
	"source.pathPrefix":       "a path at a host that is checked",
	"probe.path":              "a path of the Darkroom itself",
	"subDomains[]": "host_suffix.yaml, which needs labels of namespaces; the " +
		"operator's claims without it",
	"image.pullSecrets":                     "Secrets of the namespace, for a repository that is checked",
	"podTemplate.affinity":                  "where pods run, not how many or how large",
	"gateway.parentRefs":                    "Gateways admit routes by namespace",
	"podTemplate.topologySpreadConstraints": "where pods run, not how many or how large",
	"resources.claims": "claims of devices, which need ResourceClaims of the namespace; " +
		"Kubernetes bounds these by quota",
	"gate.resources.claims": "the same",
}

var looksCostly = regexp.MustCompile(`(?i)(url|host|endpoint|repository|image|replicas|subDomains)|^extraEnv`)

// TestEveryCostlyFieldHasAPolicy checks all fields in the schema of the CRD.
func TestEveryCostlyFieldHasAPolicy(t *testing.T) {
	seen := map[string]bool{}
	var walk func(schema *apiextensionsv1.JSONSchemaProps, path string)
	walk = func(schema *apiextensionsv1.JSONSchemaProps, path string) {
		leaf := slices.Contains([]string{"string", "integer", "number"}, schema.Type) || schema.XIntOrString
		last := path[strings.LastIndex(path, ".")+1:]
		if leaf && len(schema.Enum) == 0 && (schema.XIntOrString || looksCostly.MatchString(last) ||
			strings.HasPrefix(path, "extraEnv")) {
			seen[path] = true
		}
		for name := range schema.Properties {
			property := schema.Properties[name]
			walk(&property, strings.TrimPrefix(path+"."+name, "."))
		}
		if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
			walk(schema.AdditionalProperties.Schema, path+".*")
		}
		if schema.Items != nil && schema.Items.Schema != nil {
			walk(schema.Items.Schema, path+"[]")
		}
	}
	for _, object := range kustomizeBuild(t, "crd") {
		version := convert[apiextensionsv1.CustomResourceDefinition](t, object).Spec.Versions[0]
		spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
		walk(&spec, "")
	}
	for path := range seen {
		if costly[path] == "" && !slices.ContainsFunc(prefixesOf(path),
			func(prefix string) bool { return harmless[prefix] != "" }) {
			t.Errorf("%s has neither a policy nor an exception", path)
		}
	}
	for path := range costly {
		if !seen[path] {
			t.Errorf("the CRD has no %s", path)
		}
	}
	policiesDeny(t)
}

// prefixesOf returns a path and the paths of the fields around it.
func prefixesOf(path string) []string {
	out := []string{path}
	for i, r := range path {
		if r == '.' {
			out = append(out, strings.TrimSuffix(path[:i], "[]"), path[:i])
		}
	}
	return out
}

// policiesDeny checks that all policies together deny each spec, and also additional pods by the scale subresource.
func policiesDeny(t *testing.T) {
	t.Helper()
	kube, _ := connect(t)
	apply(t, kube, kustomizeBuild(t, "crd")...)
	applyParameters(t, kube)
	const namespace = "policies"
	must(t, kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	darkroom := darkroomWith(t, namespace, "{}")
	must(t, kube.Create(t.Context(), darkroom))
	for _, name := range []string{"limits", "registries", "source_hosts", "variables"} {
		deny(t, kube, filepath.Join(repository, "config", "admission", "policies", name+".yaml"), namespace)
	}
	for path, spec := range costly {
		object := darkroomWith(t, namespace, spec)
		object.SetName("costly")
		eventually(t, func(ctx context.Context) error {
			err := kube.Create(ctx, object.DeepCopy(), client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
				return errors.Join(errors.New(path+" is not denied"), err)
			}
			return nil
		})
	}
	scale := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling/v1", "kind": "Scale",
		"spec": map[string]any{"replicas": int64(1000)},
	}}
	err := kube.SubResource("scale").Update(t.Context(), darkroom, client.WithSubResourceBody(scale))
	if err == nil || !strings.Contains(err.Error(), "must not exceed 10") {
		t.Errorf("kubectl scale --replicas=1000 returns %v", err)
	}
}
