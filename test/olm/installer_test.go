package olm

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// Users can grant only permissions that they have, so config/olmv1 must contain the operator's permissions.
func TestTheInstallerMayGrantWhatTheBundleAsksFor(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "config", "olmv1", "installer.yaml"))
	must(t, err)
	objects, err := manifests.Decode(text)
	must(t, err)
	bundle := loadBundle(t, repository+"/bundle")
	has, needs := rulesOf(t, objects), rulesOf(t, bundle.Objects)
	install := bundle.CSV.Spec.InstallStrategy.StrategySpec
	for _, permission := range append(install.Permissions, install.ClusterPermissions...) {
		needs = append(needs, permission.Rules...)
	}
	if covered, missing := validation.Covers(has, needs); !covered {
		t.Errorf("config/olmv1/installer.yaml lacks, in the ClusterRole darkroom-installer-grants: %+v", missing)
	}
	for _, rule := range has {
		for _, word := range slices.Concat(rule.Verbs, rule.Resources, rule.APIGroups) {
			if word == "*" || word == "escalate" || word == "bind" {
				t.Errorf("the installer has unnecessary permissions: %+v", rule)
			}
		}
	}
}

// rulesOf returns the rules of all ClusterRoles.
func rulesOf(t *testing.T, objects []*unstructured.Unstructured) (rules []rbacv1.PolicyRule) {
	t.Helper()
	for _, object := range objects {
		role := &rbacv1.ClusterRole{}
		if object.GetKind() != "ClusterRole" {
			continue
		}
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role))
		rules = append(rules, role.Rules...)
	}
	return rules
}
