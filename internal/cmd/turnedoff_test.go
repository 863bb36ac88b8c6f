package cmd

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAnAPIServerThatIsTurnedOffServesItsHealthOnly(t *testing.T) {
	for path, want := range map[string]int{
		"/readyz": http.StatusOK, "/healthz": http.StatusOK,
		"/": http.StatusNotFound, "/darkrooms": http.StatusNotFound, "/metrics": http.StatusNotFound,
	} {
		answer := httptest.NewRecorder()
		healthOnly().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if answer.Code != want {
			t.Errorf("%s: status %d, want %d", path, answer.Code, want)
		}
	}
}

func TestAnAPIServerThatIsTurnedOffNeedsNoCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "/does/not/exist")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	run := func(value string) error {
		t.Setenv(envAPIServer, value)
		command := newRoot()
		command.SetArgs([]string{"apiserver", "--bind-address=127.0.0.1:0"})
		return command.ExecuteContext(ctx)
	}
	if err := run("false"); err != nil {
		t.Error(err)
	}
	if err := run(""); err == nil {
		t.Error("it runs without a cluster although it is not turned off")
	}
}

func TestTheVariableOfTheAPIServerIsABoolean(t *testing.T) {
	for value, want := range map[string]string{
		"": "true <nil>", "true": "true <nil>", "false": "false <nil>",
		"off": "false DARKROOM_APISERVER=off: must be true or false",
	} {
		t.Setenv(envAPIServer, value)
		enabled, err := apiServerEnabled()
		if got := fmt.Sprint(enabled, " ", err); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
