package apiserver_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
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
	viewer := newViewer(t, namespace)
	reader := newReader(t, namespace)
	keeper := newKeeper(t, namespace)
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
