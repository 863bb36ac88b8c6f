package apiserver_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

// shippedRoles are the roles for users, with their files in config/rbac.
var shippedRoles = map[string]string{
	"viewer":         "darkroom_viewer_role.yaml",
	"editor":         "darkroom_editor_role.yaml",
	"admin":          "darkroom_admin_role.yaml",
	"page viewer":    "page/viewer_role.yaml",
	"page editor":    "page/editor_role.yaml",
	"secret creator": "page/secret_creator_role.yaml",
}

func shippedRole(t *testing.T, name string) *rbacv1.ClusterRole {
	t.Helper()
	role, err := access.ReadClusterRole(filepath.Join(repository, "config", "rbac", shippedRoles[name]))
	if err != nil {
		t.Fatal(err)
	}
	return role
}

// TestRolesForUsers is a table of `kubectl auth can-i` in a namespace.
func TestRolesForUsers(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	all := []string{"viewer", "editor", "admin", "page viewer", "page editor", "secret creator"}
	for _, name := range all {
		grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: "test " + name}, shippedRole(t, name).Rules)
	}
	readers := "viewer, editor, admin, page viewer, page editor"
	writers := "editor, admin, page editor"
	page := "page viewer, page editor"
	for right, want := range map[string]string{
		"get darkrooms":              readers,
		"list darkrooms":             readers,
		"watch darkrooms":            readers,
		"get darkrooms/status":       readers,
		"get darkrooms/scale":        readers,
		"create darkrooms":           writers,
		"update darkrooms":           writers,
		"patch darkrooms":            writers,
		"delete darkrooms":           writers,
		"update darkrooms/scale":     writers,
		"deletecollection darkrooms": "admin",
		"update darkrooms/status":    "",
		"list pods":                  page,
		"list events":                page,
		"get pods/log":               page,
		"get services/proxy":         page,
		"create services/proxy":      "",
		"create pods":                "",
		"create pods/exec":           "",
		"create secrets":             "secret creator",
		"get secrets":                "",
		"list secrets":               "",
		"update secrets":             "",
		"delete secrets":             "",
	} {
		verb, resource, _ := strings.Cut(right, " ")
		resource, subresource, _ := strings.Cut(resource, "/")
		attributes := authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Resource: resource, Subresource: subresource}
		if resource == "darkrooms" {
			attributes.Group = v1alpha1.GroupVersion.Group
		}
		for _, name := range all {
			// The authorizer of Kubernetes sees a binding after a moment.
			eventually(t, "roles are as they should be", func() error {
				review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "test " + name, ResourceAttributes: &attributes}}
				create(t, review)
				if wanted := slices.Contains(strings.Split(want, ", "), name); review.Status.Allowed != wanted {
					return fmt.Errorf("%s may %s: %t", name, right, !wanted)
				}
				return nil
			})
		}
	}
}

func TestOnlyRolesWithoutOtherPermissionsAreAggregated(t *testing.T) {
	t.Parallel()
	for name := range shippedRoles {
		role := shippedRole(t, name)
		aggregated := slices.ContainsFunc(slices.Collect(maps.Keys(role.Labels)), func(label string) bool {
			return strings.HasPrefix(label, "rbac.authorization.k8s.io/aggregate-to-")
		})
		only := !slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
			return !slices.Equal(rule.APIGroups, []string{v1alpha1.GroupVersion.Group})
		})
		if aggregated != only {
			t.Errorf("%s is aggregated: %t", role.Name, aggregated)
		}
	}
}
