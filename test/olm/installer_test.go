package olm

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// TestTheInstallerMayGrantWhatTheBundleAsksFor: users can grant only permissions that they
// have, so config/olmv1 must keep up with those of the operator.
func TestTheInstallerMayGrantWhatTheBundleAsksFor(t *testing.T) {
	var has []rbacv1.PolicyRule
	for _, role := range clusterRoles(t, filepath.Join(repository, "config", "olmv1", "installer.yaml")) {
		has = append(has, role.Rules...)
	}
	bundle, err := manifests.GetBundleFromDir(filepath.Join(repository, "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	var needs []rbacv1.PolicyRule
	install := bundle.CSV.Spec.InstallStrategy.StrategySpec
	for _, permission := range append(install.Permissions, install.ClusterPermissions...) {
		needs = append(needs, permission.Rules...)
	}
	files, err := filepath.Glob(filepath.Join(repository, "bundle", "manifests", "*clusterrole.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, role := range clusterRoles(t, file) {
			needs = append(needs, role.Rules...)
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

func clusterRoles(t *testing.T, file string) []rbacv1.ClusterRole {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var roles []rbacv1.ClusterRole
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var role rbacv1.ClusterRole
		err := decoder.Decode(&role)
		if errors.Is(err, io.EOF) {
			return roles
		}
		if err != nil {
			t.Fatal(err)
		}
		if role.Kind == "ClusterRole" {
			roles = append(roles, role)
		}
	}
}
