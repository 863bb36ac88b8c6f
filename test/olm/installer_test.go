package olm

import (
	"os"
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// TestTheInstallerMayGrantWhatTheBundleAsksFor: users can grant only permissions that they
// have, so config/olmv1 must keep up with those of the operator.
func TestTheInstallerMayGrantWhatTheBundleAsksFor(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "config", "olmv1", "installer.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifests.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	var has []rbacv1.PolicyRule
	for _, object := range objects {
		if object.GetKind() == "ClusterRole" {
			has = append(has, rulesOf(t, object)...)
		}
	}
	bundle := loadBundle(t, repository+"/bundle")
	var needs []rbacv1.PolicyRule
	install := bundle.CSV.Spec.InstallStrategy.StrategySpec
	for _, permission := range append(install.Permissions, install.ClusterPermissions...) {
		needs = append(needs, permission.Rules...)
	}
	for _, object := range bundle.Objects {
		if object.GetKind() == "ClusterRole" {
			needs = append(needs, rulesOf(t, object)...)
		}
	}
	if covered, missing := validation.Covers(has, needs); !covered {
		t.Errorf("config/olmv1/installer.yaml lacks, in the ClusterRole darkroom-installer-grants: %+v", missing)
	}
	for _, rule := range has {
		for _, words := range [][]string{rule.Verbs, rule.Resources, rule.APIGroups} {
			for _, word := range words {
				if word == "*" || word == "escalate" || word == "bind" {
					t.Errorf("the installer has more than it needs: %+v", rule)
				}
			}
		}
	}
}

func rulesOf(t *testing.T, object *unstructured.Unstructured) []rbacv1.PolicyRule {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}
