package middleware

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
)

func TestPanicsAreLoggedAndNotDisclosed(t *testing.T) {
	var logged strings.Builder
	log := funcr.New(func(_, args string) { logged.WriteString(args) }, funcr.Options{})
	handler := RecoverPanic(log, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "3")
		panic("secret thing")
	}))
	got := get(t, handler, "/darkrooms")
	if detail := wantProblem(t, got, http.StatusInternalServerError); strings.Contains(detail, "secret") {
		t.Errorf("the response discloses the error: %s", detail)
	}
	if length := got.Header().Get("Content-Length"); length != "" {
		t.Errorf("the length is that of another body: %s", length)
	}
	for _, want := range []string{"secret thing", "/darkrooms", "TestPanicsAreLoggedAndNotDisclosed"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log lacks %s: %s", want, &logged)
		}
	}
}
