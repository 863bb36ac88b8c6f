package apiserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

func TestAnyVersionIsNeverStale(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	var group errgroup.Group
	for writer := range 2 {
		group.Go(func() error {
			for i := range 15 {
				patch := fmt.Sprintf(`{"labels":{"writer-%d":"%d"}}`, writer, i)
				got := s.call(token, "PATCH", path(namespace, "photos"), patch, "If-Match", "*", "Content-Type", "application/merge-patch+json")
				if got.status != http.StatusOK {
					return fmt.Errorf("answers %s", got)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	labels := into[wire.Darkroom](t, s.want(http.StatusOK, token, "GET", path(namespace, "photos"), "")).Labels
	if labels["writer-0"] != "14" || labels["writer-1"] != "14" {
		t.Errorf("a write is lost: %v", labels)
	}
}

func TestDeletionOfOneVersion(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor := newEditor(t, namespace).token
	deleter := newUser(t, namespace, "deleter")
	deleter.may(namespace, []rbacv1.PolicyRule{{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"}, Verbs: []string{"list", "delete"}}})
	created := s.want(http.StatusCreated, editor, "POST", "/darkrooms", webFolder(namespace, "photos")).header.Get("ETag")
	changed := s.want(http.StatusOK, editor, "PATCH", path(namespace, "photos"), `{"replicas":2}`,
		"If-Match", created, "Content-Type", "application/merge-patch+json").header.Get("ETag")
	refused := problemOf(t, s.want(http.StatusForbidden, newUserWho(t, namespace, "viewer", canView).token, "DELETE", path(namespace, "photos"), "")).Detail
	if strings.Contains(refused, "unknown") || !strings.Contains(refused, "cannot delete") || !strings.Contains(refused, "viewer") {
		t.Errorf("the detail is %q", refused)
	}
	problemOf(t, s.want(http.StatusPreconditionFailed, deleter.token, "DELETE", path(namespace, "photos"), "", "If-Match", created))
	problemOf(t, s.want(http.StatusUnprocessableEntity, deleter.token, "DELETE", path(namespace, "photos"), "", "If-Match", created+", "+changed))
	// No right is needed but that to delete.
	s.want(http.StatusNoContent, deleter.token, "DELETE", path(namespace, "photos"), "", "If-Match", changed)
}
