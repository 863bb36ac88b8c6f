package reply_test

import (
	"errors"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestADarkroomIsNotSentToWhoHasIt(t *testing.T) {
	darkroom := darkrooms.New("photos", "a").Obj()
	darkroom.ResourceVersion = "1"
	tag := wire.ETag(darkroom)
	for name, c := range map[string]struct {
		header string
		want   int
	}{
		"no header": {"", 0}, "this version": {tag, http.StatusNotModified},
		"any version": {"*", http.StatusNotModified}, "another": {`"x"`, 0},
	} {
		got, err := reply.Unless(c.header, darkroom)
		var refusal *problem.Details
		switch {
		case c.want == 0 && (err != nil || got.ETag != tag || got.Body.Name != "photos"):
			t.Errorf("%s: the response is %+v, %v", name, got, err)
		case c.want != 0 && (!errors.As(err, &refusal) || refusal.Status != c.want ||
			refusal.GetHeaders().Get("ETag") != tag):
			t.Errorf("%s: the error is %v, want %d with the tag", name, err, c.want)
		}
	}
}

func TestANewDarkroomHasALocation(t *testing.T) {
	if got := reply.WithCreated(darkrooms.New("photos", "a").Obj()).Location; got != "/darkrooms/a/photos" {
		t.Errorf("Location is %q", got)
	}
}

func TestAMissingDarkroomIsNamed(t *testing.T) {
	key, kind := types.NamespacedName{Namespace: "a", Name: "photos"}, schema.GroupResource{Resource: "darkrooms"}
	for name, c := range map[string]struct {
		err    error
		status int
		detail string
	}{
		"missing": {
			apierrors.NewNotFound(kind, "x"), http.StatusNotFound,
			`there is no Darkroom "photos" in the namespace "a"`,
		},
		"denied": {apierrors.NewBadRequest("denied: key"), http.StatusBadRequest, "denied"},
	} {
		var got *problem.Details
		err := reply.FromKubernetes(c.err, key, func(string) string { return "denied" })
		if !errors.As(err, &got) || got.Status != c.status || got.Detail != c.detail {
			t.Errorf("%s: the problem is %v, want %d %s", name, err, c.status, c.detail)
		}
	}
}
