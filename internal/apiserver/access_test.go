package apiserver_test

import (
	"net/http"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

// listed returns the namespaces and names of the Darkrooms that a user gets.
func listed(t *testing.T, s *server, token, query string) []string {
	t.Helper()
	var out []string
	for _, darkroom := range into[apiserver.DarkroomList](t, s.want(http.StatusOK, token, "GET", "/darkrooms"+query, "")).Items {
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
			t.Errorf("who may list everywhere sees %q, want %s among it", got, want)
		}
	}

	const merge = "application/merge-patch+json"
	for name, c := range map[string]struct {
		who                *user
		method, path, body string
		headers            []string
		status             int
	}{
		"a namespace of others":        {editorOfOne, "GET", "/darkrooms?namespace=" + two, "", nil, http.StatusForbidden},
		"a Darkroom of others":         {editorOfOne, "GET", path(two, "photos"), "", nil, http.StatusForbidden},
		"whether there is one":         {editorOfOne, "GET", path(two, "none"), "", nil, http.StatusForbidden},
		"pods of others":               {editorOfOne, "GET", path(two, "photos") + "/pods", "", nil, http.StatusForbidden},
		"events of others":             {editorOfOne, "GET", path(two, "photos") + "/events", "", nil, http.StatusForbidden},
		"manifest of others":           {editorOfOne, "GET", path(two, "photos") + "/manifest", "", nil, http.StatusForbidden},
		"image of others":              {editorOfOne, "GET", path(two, "photos") + "/image?path=/x.jpg", "", nil, http.StatusForbidden},
		"live events of others":        {editorOfOne, "GET", "/events/stream?namespace=" + two, "", nil, http.StatusForbidden},
		"creating elsewhere":           {editorOfOne, "POST", "/darkrooms", webFolder(two, "more"), nil, http.StatusForbidden},
		"changing those of others":     {editorOfOne, "PATCH", path(two, "photos"), "{}", []string{"If-Match", "*", "Content-Type", merge}, http.StatusForbidden},
		"deleting those of others":     {editorOfOne, "DELETE", path(two, "photos"), "", nil, http.StatusForbidden},
		"a viewer creates":             {viewerOfOne, "POST", "/darkrooms", webFolder(one, "more"), nil, http.StatusForbidden},
		"a viewer changes":             {viewerOfOne, "PATCH", path(one, "photos"), `{"replicas":2}`, []string{"If-Match", "*", "Content-Type", merge}, http.StatusForbidden},
		"a viewer deletes":             {viewerOfOne, "DELETE", path(one, "photos"), "", nil, http.StatusForbidden},
		"a viewer has no proxy":        {viewerOfOne, "GET", path(one, "photos") + "/image?path=/x.jpg", "", nil, http.StatusForbidden},
		"a viewer reads":               {viewerOfOne, "GET", path(one, "photos"), "", nil, http.StatusOK},
		"a viewer previews":            {viewerOfOne, "GET", path(one, "photos") + "/manifest", "", nil, http.StatusOK},
		"a stranger reads the metrics": {stranger, "GET", "/metrics", "", nil, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			s.on(t).want(c.status, c.who.token, c.method, c.path, c.body, c.headers...)
		})
	}
}

func TestMetricsAreForThoseWhoMay(t *testing.T) {
	t.Parallel()
	s := start(t)
	scraper := newUser(t, newNamespace(t), "scraper")
	s.want(http.StatusUnauthorized, "", "GET", "/metrics", "")
	scraper.may("", append([]rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}, canView...))
	got := s.want(http.StatusOK, scraper.token, "GET", "/metrics", "")
	contains(t, "the body", got.body, `darkroom_apiserver_requests_total{code="401",route="GET /metrics"} 1`, "darkroom_apiserver_darkrooms", "darkroom_apiserver_streams 0")
}

func TestCallersGetSettingsAndTheirPermissions(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	s := start(t, func(o *apiserver.Options) {
		o.BaseDomain, o.DarkroomVersion, o.Namespaces = "img.example.org", "v0.4.2", []string{namespace}
	})
	viewer := newUserWho(t, namespace, "viewer", canView).token
	got := into[apiserver.ServerSettings](t, s.want(http.StatusOK, viewer, "GET", "/settings", ""))
	if got.BaseDomain != "img.example.org" || got.DarkroomVersion != "v0.4.2" || !slices.Equal(got.Namespaces, []string{namespace}) {
		t.Errorf("settings are %+v", got)
	}
	for token, want := range map[string]apiserver.Access{
		viewer:                        {},
		newEditor(t, namespace).token: {Create: true, Update: true, Delete: true, Image: true},
		newUserWho(t, namespace, "reader", canReadLogs).token:    {Log: true},
		newUserWho(t, namespace, "keeper", canKeepSecrets).token: {CreateSecret: true},
	} {
		got := into[apiserver.Access](t, s.want(http.StatusOK, token, "GET", "/access?namespace="+namespace+"&name=photos", ""))
		if got != want {
			t.Errorf("told is %+v, want %+v", got, want)
		}
	}
	problemOf(t, s.want(http.StatusUnprocessableEntity, viewer, "GET", "/access", ""))
}
