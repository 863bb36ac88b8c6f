package apiserver_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

func TestFormsGetTheirSettings(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	s := start(t, func(o *apiserver.Options) {
		o.BaseDomain, o.DarkroomVersion, o.Namespaces = "img.example.org", "v0.4.2", []string{namespace}
	})
	stranger := newUser(t, namespace, "stranger")
	problemOf(t, s.want(http.StatusUnauthorized, "", "GET", "/settings", ""))
	got := into[apiserver.ServerSettings](t, s.want(http.StatusOK, stranger.token, "GET", "/settings", ""))
	if got.BaseDomain != "img.example.org" || got.DarkroomVersion != "v0.4.2" || !slices.Equal(got.Namespaces, []string{namespace}) {
		t.Errorf("settings are %+v", got)
	}
}

func TestCallersCanReadTheirPermissions(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	viewer := newUser(t, namespace, "viewer")
	viewer.may(namespace, canView)
	reader := newUser(t, namespace, "reader")
	reader.may(namespace, canReadLogs)
	keeper := newUser(t, namespace, "keeper")
	keeper.may(namespace, canKeepSecrets)
	for token, want := range map[string]apiserver.Access{
		newEditor(t, namespace).token: {Create: true, Update: true, Delete: true, Image: true},
		viewer.token:                  {},
		reader.token:                  {Log: true},
		keeper.token:                  {CreateSecret: true},
	} {
		got := into[apiserver.Access](t, s.want(http.StatusOK, token, "GET", "/access?namespace="+namespace+"&name=photos", ""))
		if got != want {
			t.Errorf("told is %+v, want %+v", got, want)
		}
	}
	problemOf(t, s.want(http.StatusUnauthorized, "", "GET", "/access?namespace="+namespace, ""))
	problemOf(t, s.want(http.StatusUnprocessableEntity, viewer.token, "GET", "/access", ""))
}

func TestManifestOfANewDarkroom(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	one := path(namespace, "photos") + "/manifest"

	fresh := s.want(http.StatusOK, token, "POST", one, webFolder(namespace, "photos"))
	problemOf(t, s.want(http.StatusNotFound, token, "GET", one, ""))
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	if stored := s.want(http.StatusOK, token, "GET", one, ""); stored.body != fresh.body {
		t.Errorf("before it was stored the manifest was\n%s\nand then\n%s", fresh.body, stored.body)
	}

	// Secrets are concealed, those that were sent now as well as those that stay.
	s.want(http.StatusCreated, token, "POST", "/darkrooms", withSecrets(namespace, "secret"))
	for name, body := range map[string]string{
		"sent":   withSecrets(namespace, "secret"),
		"stayed": `{"source":{"type":"S3","bucket":"b","region":"r"},"subDomains":["x"],"extraEnv":[{"name":"PASSWORD"}]}`,
	} {
		got := s.want(http.StatusOK, token, "POST", path(namespace, "secret")+"/manifest", body)
		mustNotLeak(t, name, got.body)
		if want := s.want(http.StatusOK, token, "GET", path(namespace, "secret")+"/manifest", ""); got.body != want.body {
			t.Errorf("%s: the manifest differs from the stored one:\n%s", name, got.body)
		}
	}
}

func TestManifestOfAnInvalidDarkroom(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	one := path(namespace, "photos") + "/manifest"
	bad := problemOf(t, s.want(http.StatusUnprocessableEntity, token, "POST", one, `{"source":{"type":"S3","bucket":"b"},"subDomains":["x"]}`))
	if !slices.ContainsFunc(bad.Errors, func(f problem.Field) bool { return f.Location == "body.source.region" }) {
		t.Errorf("the problem is %+v", bad)
	}
	problemOf(t, s.want(http.StatusUnprocessableEntity, token, "POST", one, webFolder(namespace, "other")))
	problemOf(t, s.want(http.StatusBadRequest, token, "POST", one, `[]`))
	stranger := newUser(t, namespace, "stranger")
	refused := problemOf(t, s.want(http.StatusForbidden, stranger.token, "POST", one, webFolder(namespace, "photos")))
	if !strings.Contains(refused.Detail, "may not get darkroom") {
		t.Errorf("the problem is %+v", refused)
	}
}
