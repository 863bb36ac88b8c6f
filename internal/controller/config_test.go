package controller

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// rights maps resources to verbs.
type rights map[string][]string

func (r rights) add(resource string, verbs []string) {
	r[resource] = append(r[resource], verbs...)
	slices.Sort(r[resource])
	r[resource] = slices.Compact(r[resource])
}

func readFile(t *testing.T, path ...string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// grantedBy returns the rights that roles grant; a wildcard fails the test.
func grantedBy(t *testing.T, paths ...[]string) rights {
	t.Helper()
	granted := rights{}
	for _, path := range paths {
		role := rbacv1.ClusterRole{}
		if err := yaml.Unmarshal(readFile(t, path...), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, text := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs) {
				if strings.Contains(text, "*") {
					t.Errorf("%s has a wildcard: %v", role.Name, rule)
				}
			}
			for _, resource := range rule.Resources {
				granted.add(resource, rule.Verbs)
			}
		}
	}
	return granted
}

// documented reads the table in docs/security.md whose header starts with a heading.
func documented(t *testing.T, heading string) rights {
	t.Helper()
	_, table, found := strings.Cut(string(readFile(t, "docs", "security.md")), "| "+heading+" | verbs | why |")
	if !found {
		t.Fatalf("docs/security.md has no table of %s", heading)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows := rights{}
	row := regexp.MustCompile("(?m)^\\| (`[^|]*) \\| ([a-z, ]+) \\| ([^|]+) \\|$")
	for _, match := range row.FindAllStringSubmatch(table, -1) {
		for _, resource := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(match[1], -1) {
			rows.add(resource[1], strings.Split(match[2], ", "))
		}
	}
	return rows
}

func TestRolesOfUsersDoNotReadSecrets(t *testing.T) {
	for role, want := range map[string][]string{
		"darkroom_viewer": nil, "darkroom_editor": nil, "darkroom_admin": nil,
		"page/viewer": nil, "page/editor": nil, "page/secret_creator": {"create"},
	} {
		granted := grantedBy(t, []string{"config", "rbac", role + "_role.yaml"})
		if !slices.Equal(granted["secrets"], want) {
			t.Errorf("role %s: got verbs %v on Secrets, want %v", role, granted["secrets"], want)
		}
	}
}

func TestEachRuleOfTheRolesIsJustified(t *testing.T) {
	for heading, roles := range map[string][][]string{
		"resource": {
			{"config", "rbac", "role.yaml"},
			{"config", "rbac", "metrics_auth_role.yaml"},
			{"config", "rbac", "leader_election_role.yaml"},
		},
		"resource of the API server": {
			{"config", "apiserver", "role.yaml"},
			{"config", "apiserver", "auth_role.yaml"},
			{"config", "apiserver", "lease_role.yaml"},
		},
	} {
		granted := grantedBy(t, roles...)
		if len(granted) == 0 {
			t.Fatalf("no rights in %v", roles)
		}
		if diff := cmp.Diff(granted, documented(t, heading)); diff != "" {
			t.Errorf("docs/security.md, table of %s (-granted +documented):\n%s", heading, diff)
		}
	}
}

// releasedVersions are the API versions that any release has stored. Clusters contain objects of these versions, so
// none of them may be removed from the definition before the objects are migrated.
var releasedVersions = []string{"v1alpha1"}

func TestTheDefinitionServesAllVersionsThatWereEverStored(t *testing.T) {
	definition := apiextensionsv1.CustomResourceDefinition{}
	err := yaml.Unmarshal(readFile(t, "config", "crd", "bases", "deployments.example.com_darkrooms.yaml"), &definition)
	if err != nil {
		t.Fatal(err)
	}
	served, stored := map[string]bool{}, 0
	for _, version := range definition.Spec.Versions {
		served[version.Name] = version.Served
		if version.Storage {
			stored++
		}
	}
	if stored != 1 {
		t.Errorf("%d versions are stored, want 1", stored)
	}
	for _, version := range releasedVersions {
		if !served[version] {
			t.Errorf("%s is not served: objects stored in this version could be neither read nor deleted", version)
		}
	}
	if len(served) > 1 && (definition.Spec.Conversion == nil || definition.Spec.Conversion.Strategy == "") {
		t.Error("there are several versions, but no conversion is defined")
	}
}
