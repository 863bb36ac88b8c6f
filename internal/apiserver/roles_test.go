package apiserver_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

// TestRolesForUsers has all that the roles in config/rbac allow: verbs by resource. Those that
// allow nothing beyond Darkrooms are aggregated into the roles of Kubernetes.
func TestRolesForUsers(t *testing.T) {
	t.Parallel()
	type rights map[string]string
	read := rights{"darkrooms": "get list watch", "darkrooms/status": "get", "darkrooms/scale": "get"}
	write := rights{"darkrooms": "create delete get list patch update watch", "darkrooms/status": "get", "darkrooms/scale": "get patch update"}
	page := rights{"pods": "get list", "events": "get list", "pods/log": "get", "services/proxy": "get"}
	with := func(some, more rights) rights {
		out := maps.Clone(some)
		maps.Copy(out, more)
		return out
	}
	for file, c := range map[string]struct {
		want       rights
		aggregated string
	}{
		"darkroom_viewer":     {read, "view"},
		"darkroom_editor":     {write, "edit"},
		"darkroom_admin":      {with(write, rights{"darkrooms": "create delete deletecollection get list patch update watch"}), "admin"},
		"page/viewer":         {with(read, page), ""},
		"page/editor":         {with(write, page), ""},
		"page/secret_creator": {rights{"secrets": "create"}, ""},
	} {
		role, err := access.ReadClusterRole(filepath.Join(repository, "config", "rbac", file+"_role.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		got := rights{}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				got[resource] = strings.Join(slices.Sorted(slices.Values(rule.Verbs)), " ")
				group := ""
				if strings.HasPrefix(resource, "darkrooms") {
					group = v1alpha1.GroupVersion.Group
				}
				if !slices.Equal(rule.APIGroups, []string{group}) {
					t.Errorf("%s: %s are of %q", file, resource, rule.APIGroups)
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		for _, into := range []string{"view", "edit", "admin"} {
			if aggregated := role.Labels["rbac.authorization.k8s.io/aggregate-to-"+into] == "true"; aggregated != (into == c.aggregated) {
				t.Errorf("%s is aggregated into %s: %t", file, into, aggregated)
			}
		}
	}
}
