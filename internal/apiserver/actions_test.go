package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// The page performs actions by merge patches of this form.
func TestActionsArePatches(t *testing.T) {
	t.Parallel()
	const restartedAt = "kubectl.kubernetes.io/restartedAt"
	s, namespace, token := startForEditor(t)
	one := path(namespace, "photos")
	s.want(http.StatusCreated, token, "POST", "/darkrooms", `{"name":"photos","namespace":"`+namespace+`","subDomains":["photos"],
		"source":{"type":"S3","bucket":"b","region":"r","accessKey":"access","secretKey":"secret"},
		"annotations":{"example.com/team":"cats"},"podTemplate":{"annotations":{"example.com/scrape":"true"}}}`)
	patch := func(body string) *v1alpha1.Darkroom {
		t.Helper()
		tag := s.want(http.StatusOK, token, "GET", one, "").header.Get("ETag")
		s.want(http.StatusOK, token, "PATCH", one, body, "If-Match", tag, "Content-Type", "application/merge-patch+json")
		s.want(http.StatusPreconditionFailed, token, "PATCH", one, body, "If-Match", tag, "Content-Type", "application/merge-patch+json")
		now := stored(t, namespace, "photos")
		if now.Annotations["example.com/team"] != "cats" || now.Spec.Source.SecretKey != "secret" {
			t.Errorf("%s changes more than it says: %+v", body, now)
		}
		return now
	}

	if now := patch(`{"annotations":{"` + v1alpha1.AnnotationPaused + `":"true"}}`); now.Annotations[v1alpha1.AnnotationPaused] != "true" {
		t.Errorf("annotations are %v", now.Annotations)
	}
	if now := patch(`{"annotations":{"` + v1alpha1.AnnotationPaused + `":null}}`); len(now.Annotations) != 1 {
		t.Errorf("annotations are %v after it was resumed", now.Annotations)
	}
	if now := patch(`{"annotations":{"` + v1alpha1.AnnotationRequestedAt + `":"2026-01-01T00:00:00Z"}}`); now.Generation != 1 {
		t.Errorf("generation is %d after a retry", now.Generation)
	}
	now := patch(`{"podTemplate":{"annotations":{"` + restartedAt + `":"2026-01-01T00:00:00Z"}}}`)
	if got := now.Spec.PodTemplate.Annotations; got[restartedAt] != "2026-01-01T00:00:00Z" || got["example.com/scrape"] != "true" {
		t.Errorf("annotations of pods are %v", got)
	}
	if now := patch(`{"replicas":3}`); *now.Spec.Replicas != 3 {
		t.Errorf("replicas are %d", *now.Spec.Replicas)
	}
	if got := into[wire.Darkroom](t, s.want(http.StatusOK, token, "GET", one, "")); got.Source.Credentials != "inline" {
		t.Errorf("credentials are %q", got.Source.Credentials)
	}
}
