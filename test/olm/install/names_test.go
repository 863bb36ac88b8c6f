package install

import (
	"os"
	"path/filepath"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestOverlaysUnderOtherNamesNameOnlyWhatTheyHave builds each overlay as a second installation does, in its own
// namespace. A binding that kept the old names would grant permissions to anyone who creates that ServiceAccount.
func TestOverlaysUnderOtherNamesNameOnlyWhatTheyHave(t *testing.T) {
	for _, overlay := range overlays(t) {
		directory := t.TempDir()
		config, err := filepath.Abs(filepath.Join(repository, "config", overlay))
		must(t, err)
		if _, err := os.Stat(config); err != nil {
			continue // parts that are combined
		}
		relative, err := filepath.Rel(directory, config)
		must(t, err)
		text, err := yaml.Marshal(map[string]any{
			"namePrefix": "team-a-", "namespace": "other", "resources": []string{relative},
		})
		must(t, err)
		must(t, os.WriteFile(filepath.Join(directory, "kustomization.yaml"), text, 0o600))
		objects := build(t, directory)
		has := byName(objects)
		wants := func(by *unstructured.Unstructured, name string) {
			if has[name] == nil {
				t.Errorf("%s: %s %s references %s, which does not exist", overlay, by.GetKind(), by.GetName(), name)
			}
		}
		for _, object := range objects {
			switch object.GetKind() {
			case "RoleBinding", "ClusterRoleBinding":
				binding := convert[rbacv1.RoleBinding](t, object)
				namespace := ""
				if binding.RoleRef.Kind == "Role" {
					namespace = object.GetNamespace()
				}
				wants(object, binding.RoleRef.Kind+" "+namespace+"/"+binding.RoleRef.Name)
				for _, subject := range binding.Subjects {
					wants(object, subject.Kind+" "+subject.Namespace+"/"+subject.Name)
				}
			case "ValidatingAdmissionPolicyBinding":
				spec := convert[admissionv1.ValidatingAdmissionPolicyBinding](t, object).Spec
				wants(object, "ValidatingAdmissionPolicy /"+spec.PolicyName)
				if spec.ParamRef != nil {
					wants(object, "ConfigMap "+spec.ParamRef.Namespace+"/"+spec.ParamRef.Name)
				}
			case "Deployment":
				wants(object, "ServiceAccount other/"+podsOf(t, object).Spec.ServiceAccountName)
			}
		}
	}
}
