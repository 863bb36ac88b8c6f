package apiserver_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

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
