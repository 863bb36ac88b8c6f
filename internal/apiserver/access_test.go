package apiserver_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// listed returns the namespaces and names of the Darkrooms that a user can list.
func listed(t *testing.T, s *server, token, query string) []string {
	t.Helper()
	var out []string
	for _, darkroom := range into[apiserver.DarkroomList](t,
		s.want(http.StatusOK, token, "GET", "/darkrooms"+query, "")).Items {
		out = append(out, darkroom.Namespace+"/"+darkroom.Name)
	}
	return out
}

func TestEachSeesAndDoesWhatKubernetesAllows(t *testing.T) {
	t.Parallel()
	s, one, two := start(t), newNamespace(t), newNamespace(t)
	editorOfOne, editorOfTwo := newEditor(t, one), newEditor(t, two)
	viewerOfOne, stranger := newUser(t, one, "viewer"), newUser(t, one, "stranger")
	viewerOfOne.may(one, canView)
	everywhere := newUser(t, one, "everywhere")
	everywhere.may("", canView)
	s.want(http.StatusCreated, editorOfOne.token, "POST", "/darkrooms", webFolder(one, "photos"))
	s.want(http.StatusCreated, editorOfTwo.token, "POST", "/darkrooms", webFolder(two, "photos"))

	for name, c := range map[string]struct {
		who  *user
		want []string
	}{
		"editor of one": {editorOfOne, []string{one + "/photos"}},
		"editor of two": {editorOfTwo, []string{two + "/photos"}},
		"viewer of one": {viewerOfOne, []string{one + "/photos"}},
		"stranger":      {stranger, nil},
	} {
		if got := listed(t, s, c.who.token, ""); !slices.Equal(got, c.want) {
			t.Errorf("%s sees %q, want %q", name, got, c.want)
		}
	}
	for _, want := range []string{one + "/photos", two + "/photos"} {
		if got := listed(t, s, everywhere.token, ""); !slices.Contains(got, want) {
			t.Errorf("a user who may list everywhere sees %q, want %s among them", got, want)
		}
	}

	const merge = "application/merge-patch+json"
	for name, c := range map[string]struct {
		who                *user
		method, path, body string
		headers            []string
		status             int
	}{
		"a namespace of others": {editorOfOne, "GET", "/darkrooms?namespace=" + two, "", nil, http.StatusForbidden},
		"live events of others": {
			editorOfOne, "GET", "/events/stream?namespace=" + two, "",
			nil, http.StatusForbidden,
		},
		"creating elsewhere": {
			editorOfOne, "POST", "/darkrooms", webFolder(two, "more"),
			nil, http.StatusForbidden,
		},
		"a viewer creates": {
			viewerOfOne, "POST", "/darkrooms", webFolder(one, "more"),
			nil, http.StatusForbidden,
		},
		"a viewer changes": {
			viewerOfOne, "PATCH", path(one, "photos"), `{"replicas":2}`,
			[]string{"If-Match", "*", "Content-Type", merge},
			http.StatusForbidden,
		},
		"a viewer deletes": {viewerOfOne, "DELETE", path(one, "photos"), "", nil, http.StatusForbidden},
		"a viewer has no permission to use the proxy": {
			viewerOfOne, "GET", path(one, "photos") + "/image?path=/x.jpg", "",
			nil, http.StatusForbidden,
		},
		"a viewer reads":               {viewerOfOne, "GET", path(one, "photos"), "", nil, http.StatusOK},
		"a viewer previews":            {viewerOfOne, "GET", path(one, "photos") + "/manifest", "", nil, http.StatusOK},
		"a stranger reads the metrics": {stranger, "GET", "/metrics", "", nil, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			s.on(t).want(c.status, c.who.token, c.method, c.path, c.body, c.headers...)
		})
	}
}

// TestADarkroomOfOthersIsAnsweredLikeNone compares, for every operation, the response for an existing Darkroom with the
// response for a missing one. It does so for a stranger, and for a user who may read everything except the Darkroom.
func TestADarkroomOfOthersIsAnsweredLikeNone(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	around := newUser(t, namespace, "around")
	grant(t, namespace, rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: "around"},
		[]rbacv1.PolicyRule{{APIGroups: []string{"", "apps"}, Resources: []string{"*"}, Verbs: []string{"*"}}})
	for _, who := range []string{newUser(t, newNamespace(t), "stranger").token, around.token} {
		for _, one := range operations(t, namespace) {
			if !strings.HasPrefix(one.path, path(namespace, "photos")) {
				continue
			}
			target, body := one.filled(namespace)
			about := func(name string) string {
				named := strings.NewReplacer("/photos", "/"+name, `"photos"`, fmt.Sprintf("%q", name))
				got := s.want(http.StatusForbidden, who, one.method, named.Replace(target), named.Replace(body), "Content-Type",
					one.mediaType, "If-Match", "*")
				return strings.ReplaceAll(got.body, name, "photos")
			}
			if there, none := about("photos"), about("nothing"); there != none {
				t.Errorf("%s %s: got status %s, but without a Darkroom %s", one.method, one.path, there, none)
			}
		}
	}
}

func TestMetricsAreForThoseWhoMay(t *testing.T) {
	t.Parallel()
	s := start(t)
	scraper := newUser(t, newNamespace(t), "scraper")
	s.want(http.StatusUnauthorized, "", "GET", "/metrics", "")
	scraper.may("", append([]rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
		canView...))
	got := s.want(http.StatusOK, scraper.token, "GET", "/metrics", "")
	contains(t, "the body", got.body, `darkroom_apiserver_requests_total{code="401",route="GET /metrics"} 1`)
}

func TestCallersGetSettingsAndTheirPermissions(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	s := start(t, func(o *apiserver.Options) {
		o.BaseDomains, o.DarkroomVersion, o.Namespaces = []string{"img.example.org"}, "v0.4.2", []string{namespace}
	})
	viewer := newUserWho(t, namespace, "viewer", canView).token
	got := into[apiserver.ServerSettings](t, s.want(http.StatusOK, viewer, "GET", "/settings", ""))
	if got.BaseDomain != "img.example.org" || got.DarkroomVersion != "v0.4.2" ||
		!slices.Equal(got.Namespaces, []string{namespace}) {
		t.Errorf("settings are %+v", got)
	}
	for token, want := range map[string]apiserver.Access{
		viewer:                        {},
		newEditor(t, namespace).token: {Create: true, Update: true, Delete: true, Image: true},
		newUserWho(t, namespace, "reader", canReadLogs).token:    {Log: true},
		newUserWho(t, namespace, "keeper", canKeepSecrets).token: {CreateSecret: true},
	} {
		got := into[apiserver.Access](t, s.want(http.StatusOK, token, "GET",
			"/access?namespace="+namespace+"&name=photos", ""))
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	problemOf(t, s.want(http.StatusUnprocessableEntity, viewer, "GET", "/access", ""))
}

// TestCallersAreToldWhereTheyMayWrite compares the server's responses with random permissions in many namespaces.
func TestCallersAreToldWhereTheyMayWrite(t *testing.T) {
	t.Parallel()
	s := start(t)
	own := newNamespace(t)
	caller, everywhere := newUser(t, own, "caller"), newUser(t, own, "everywhere")
	random := rand.New(rand.NewPCG(uint64(len(own)), uint64(own[len(own)-1])))
	want := apiserver.Namespaces{Create: []string{}, Update: []string{}}
	rule := func(verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"},
			Verbs: append(verbs, "list"),
		}}
	}
	all := []string{own}
	for i := range 15 {
		namespace := newNamespace(t)
		all = append(all, namespace)
		create(t, darkrooms.New("photos", namespace).Obj())
		sees, creates, updates := random.IntN(2) == 0 || i == 14, random.IntN(2) == 0, random.IntN(2) == 0 || i == 14
		verbs := []string{}
		for verb, has := range map[string]bool{"watch": sees, "create": creates, "update": updates} {
			if has {
				verbs = append(verbs, verb)
			}
		}
		caller.may(namespace, rule(verbs...))
		if sees && creates {
			want.Create = append(want.Create, namespace)
		}
		if sees && updates {
			want.Update = append(want.Update, namespace)
		}
	}
	caller.may(own, rule("create"))
	want.Create = append(want.Create, own)
	slices.Sort(want.Create)
	slices.Sort(want.Update)
	eventually(t, "the server has the Darkrooms and permissions", func() error {
		got := into[apiserver.Namespaces](t, s.want(http.StatusOK, caller.token, "GET", "/access/namespaces", ""))
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("got %+v, want %+v", got, want)
		}
		return nil
	})
	everywhere.may("", rule("watch", "create"))
	got := into[apiserver.Namespaces](t, s.want(http.StatusOK, everywhere.token, "GET", "/access/namespaces", ""))
	for _, namespace := range all {
		if !slices.Contains(got.Create, namespace) || slices.Contains(got.Update, namespace) {
			t.Errorf("a user who may create everywhere and update nowhere gets %+v", got)
		}
	}
}

// roleOf returns a role for users in config/rbac.
func roleOf(t *testing.T, file string) *rbacv1.ClusterRole {
	t.Helper()
	role, err := access.ReadClusterRole(filepath.Join(repository, "config", "rbac", file+"_role.yaml"))
	expect.NoError(t, err)
	return role
}

// TestTheRolesForUsersGrantTheseRightsOnly lists everything that the roles in config/rbac allow: verbs by resource.
// Roles that allow nothing beyond Darkrooms are aggregated into the roles of Kubernetes.
func TestTheRolesForUsersGrantTheseRightsOnly(t *testing.T) {
	t.Parallel()
	type rights map[string]string
	read := rights{"darkrooms": "get list watch", "darkrooms/status": "get", "darkrooms/scale": "get"}
	write := rights{
		"darkrooms": "create delete get list patch update watch", "darkrooms/status": "get",
		"darkrooms/scale": "get patch update",
	}
	page := rights{
		"pods": "get list", "events": "get list", "pods/log": "get", "pods/proxy": "get",
		"services/proxy": "get", "controllerrevisions": "get list",
	}
	with := func(some, more rights) rights {
		out := maps.Clone(some)
		maps.Copy(out, more)
		return out
	}
	for file, c := range map[string]struct {
		want       rights
		aggregated string
	}{
		"darkroom_viewer": {read, "view"},
		"darkroom_editor": {write, "edit"},
		"darkroom_admin": {
			with(write, rights{"darkrooms": "create delete deletecollection get list patch update watch"}), "admin",
		},
		"page/viewer":         {with(read, page), ""},
		"page/editor":         {with(write, page), ""},
		"page/secret_creator": {rights{"secrets": "create"}, ""},
	} {
		role := roleOf(t, file)
		got := rights{}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				got[resource] = strings.Join(slices.Sorted(slices.Values(rule.Verbs)), " ")
				group := ""
				if strings.HasPrefix(resource, "darkrooms") {
					group = v1alpha1.GroupVersion.Group
				}
				if resource == "controllerrevisions" {
					group = "apps"
				}
				if !slices.Equal(rule.APIGroups, []string{group}) {
					t.Errorf("%s: got API groups %q of %s, want %q", file, rule.APIGroups, resource, group)
				}
			}
		}
		expect.Equal(t, file, c.want, got)
		for _, into := range []string{"view", "edit", "admin"} {
			aggregated := role.Labels["rbac.authorization.k8s.io/aggregate-to-"+into] == "true"
			if aggregated != (into == c.aggregated) {
				t.Errorf("%s is aggregated into %s: got %t, want %t", file, into, aggregated, into == c.aggregated)
			}
		}
	}
}
