package install

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// policyCases are the policies that a platform team may apply, with Darkrooms that each policy allows and denies. The
// spec is merged into a valid Darkroom's.
var policyCases = map[string]struct {
	message         string
	allowed, denied []string
}{
	"inline_keys": {
		message: "name it in credentialsSecretRef",
		allowed: []string{"{}", "source: {type: S3, bucket: b, region: r, credentialsSecretRef: {name: keys}}"},
		denied:  []string{"source: {type: S3, bucket: b, region: r, accessKey: a, secretKey: s}"},
	},
	"registries": {
		message: "image.repository must be one of: registry.example.com/, gojektech/darkroom",
		allowed: []string{
			"{}", "image: {pullPolicy: Always}", "image: {repository: registry.example.com/team/darkroom}",
			"image: {repository: gojektech/darkroom}",
		},
		denied: []string{
			"image: {repository: gojektech/darkroom-evil}", "image: {repository: docker.io/evil/darkroom}",
			"image: {repository: registry.example.com.evil.com/x}",
		},
	},
	"source_hosts": {
		message: "the host of each source must be one of: images.example.com, .cdn.example.com, .cloudfront.net",
		allowed: []string{
			"{}", "source: {baseUrl: 'https://a.cdn.example.com:8443/x'}",
			"source: {type: S3, bucket: b, region: r, credentialsSecretRef: {name: keys}}",
			"source: {type: CloudFront, host: d1.cloudfront.net}",
		},
		denied: []string{
			"source: {baseUrl: 'http://169.254.169.254/'}", "source: {baseUrl: 'https://images.example.com.evil.com'}",
			"source: {type: S3, bucket: b, region: r, endpoint: 'http://minio.other:9000', credentialsSecretRef: {name: keys}}",
			"source: {type: CloudFront, host: evil.com}",
		},
	},
	"host_suffix": {
		message: "subDomains must end with the suffix of the namespace: team-a",
		allowed: []string{"subDomains: [team-a]", "subDomains: [photos.team-a, a.b.team-a]"},
		denied:  []string{"subDomains: [photos]", "subDomains: [photos.team-a, team-b]", "subDomains: [evilteam-a]"},
	},
	"limits": {
		message: "must not exceed",
		allowed: []string{
			"replicas: 10", "autoscaling: {maxReplicas: 10}",
			"resources: {requests: {cpu: 500m}, limits: {cpu: 2, memory: 4096Mi}}",
		},
		denied: []string{
			"replicas: 11", "autoscaling: {maxReplicas: 11}", "resources: {limits: {memory: 5Gi}}",
			"resources: {limits: {cpu: 3}}", "resources: {requests: {cpu: 2001m}}", "resources: {limits: {example.com/gpu: 1}}",
			"gate: {resources: {limits: {memory: 500Gi}}}", "gate: {cache: {disk: 900Gi}}",
		},
	},
	"variables": {
		message: "extraEnv",
		allowed: []string{"{}", "extraEnv: [{name: TZ, value: UTC}, {name: SOURCE_HYSTRIX_TIMEOUT, value: '9'}]"},
		denied: []string{
			"extraEnv: [{name: SOURCE_BASEURL, value: 'http://169.254.169.254/'}]",
			"extraEnv: [{name: TZ, value: UTC}, {name: HTTP_PROXY, value: x}]",
			"extraEnvFrom: [{configMapRef: {name: any}}]", "extraEnvFrom: [{prefix: TZ, secretRef: {name: any}}]",
		},
	},
}

func TestEachPolicyDeniesWhatItIsFor(t *testing.T) {
	kube, _ := connect(t)
	apply(t, kube, kustomizeBuild(t, "crd")...)
	files, err := filepath.Glob(filepath.Join(repository, "config", "admission", "policies", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %q: %v", files, err)
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		return slices.Contains([]string{"config_map.yaml", "kustomization.yaml", "references.yaml"}, filepath.Base(file))
	})
	applyParameters(t, kube)
	for _, file := range append(files, filepath.Join(repository, "config", "admission", "inline_keys.yaml")) {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			test, found := policyCases[name]
			if !found {
				t.Fatal("the policy has no cases")
			}
			namespace := "policy-" + strings.ReplaceAll(name, "_", "-")
			if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				Name: namespace, Labels: map[string]string{"darkrooms.example.com/suffix": "team-a"},
			}}); err != nil {
				t.Fatal(err)
			}
			earlier := darkroomWith(t, namespace, test.denied[0])
			earlier.SetName("earlier")
			// The API server notices new policies, and the removal of other tests' policies, only after a moment.
			eventually(t, func(ctx context.Context) error { return kube.Create(ctx, earlier) })
			deny(t, kube, file, namespace)
			eventually(t, func(ctx context.Context) error {
				if err := kube.Create(ctx, darkroomWith(t, namespace, test.denied[0]), client.DryRunAll); err == nil {
					return errors.New("nothing is denied")
				}
				return nil
			})
			earlier.SetAnnotations(map[string]string{"deployments.example.com/installation": "system"})
			if err := kube.Update(t.Context(), earlier); err != nil {
				t.Errorf("the operator can no longer update the metadata of a Darkroom from before the policy: %v", err)
			}
			for _, spec := range withAdditional(test.allowed) {
				if err := kube.Create(t.Context(), darkroomWith(t, namespace, spec), client.DryRunAll); err != nil {
					t.Errorf("%s is denied: %v", spec, err)
				}
			}
			for _, spec := range withAdditional(test.denied) {
				err := kube.Create(t.Context(), darkroomWith(t, namespace, spec), client.DryRunAll)
				if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), test.message) {
					t.Errorf("%s returns %v, want a denial with %q", spec, err, test.message)
				}
			}
		})
	}
}

// withAdditional adds, to specs with a source, the same source as an additional source, beside a source that each
// policy allows.
func withAdditional(specs []string) []string {
	out := slices.Clone(specs)
	for _, spec := range specs {
		if source, found := strings.CutPrefix(spec, "source: {"); found {
			const allowed = "{name: allowed, fallback: true, baseUrl: 'https://a.cdn.example.com'}"
			out = append(out, "{gate: {}, additionalSources: ["+allowed+", {name: other, path: /other, "+source+"]}")
		}
	}
	return out
}

// applyParameters creates the ConfigMap that the policies read.
func applyParameters(t *testing.T, kube client.Client) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "darkroom-system"}}
	must(t, client.IgnoreAlreadyExists(kube.Create(t.Context(), namespace)))
	text, err := os.ReadFile(filepath.Join(repository, "config", "admission", "policies", "config_map.yaml"))
	must(t, err)
	apply(t, kube, decode(t, text)...)
}

func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	must(t, limits.Until(t.Context(), "the API server enforces the policies", check))
}

// deny applies a policy that denies in one namespace only, until the test ends.
func deny(t *testing.T, kube client.Client, file, namespace string) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	for _, object := range decode(t, text) {
		if object.GetKind() == "ValidatingAdmissionPolicyBinding" {
			binding := convert[admissionv1.ValidatingAdmissionPolicyBinding](t, object)
			actions := []admissionv1.ValidationAction{admissionv1.Deny}
			if filepath.Base(file) == "inline_keys.yaml" {
				// Its message is a constant and contains no key.
				actions = []admissionv1.ValidationAction{admissionv1.Warn, admissionv1.Audit}
			}
			if !slices.Equal(binding.Spec.ValidationActions, actions) {
				t.Errorf("the binding has the actions %q", binding.Spec.ValidationActions)
			}
			spec := object.Object["spec"].(map[string]any)
			spec["validationActions"] = []any{"Deny"}
			spec["matchResources"] = map[string]any{"namespaceSelector": map[string]any{
				"matchLabels": map[string]any{corev1.LabelMetadataName: namespace},
			}}
		}
		apply(t, kube, object)
		deleteLater(t, kube, object)
	}
}

func darkroomWith(t *testing.T, namespace, spec string) *unstructured.Unstructured {
	t.Helper()
	merged := map[string]any{
		"source":     map[string]any{"type": "WebFolder", "baseUrl": "https://images.example.com"},
		"subDomains": []any{"photos.team-a"},
	}
	maps.Copy(merged, parse(t, spec))
	object := &unstructured.Unstructured{Object: map[string]any{"spec": merged}}
	object.SetAPIVersion("deployments.example.com/v1alpha1")
	object.SetKind("Darkroom")
	object.SetNamespace(namespace)
	object.SetName("photos")
	return object
}
