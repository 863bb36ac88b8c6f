package apiserver_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// TestGeneratedClients runs generated clients against a server, as users of the OpenAPI document do.
func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	t.Run("TypeScript", func(t *testing.T) {
		web := filepath.Join(repository, "web")
		if _, err := os.Stat(filepath.Join(web, "node_modules", "openapi-fetch")); err != nil {
			t.Skip("the packages of the page are not installed")
		}
		runClient(t, web, "node", "e2e/client.mjs")
	})
	t.Run("Go", func(t *testing.T) {
		if testing.Short() {
			t.Skip("it compiles a generator")
		}
		s, folder := start(t), t.TempDir()
		expect.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(repository, "test", "clients"))))
		served := s.want(http.StatusOK, "", "GET", "/openapi.json", "")
		expect.NoError(t, os.WriteFile(filepath.Join(folder, "openapi.json"), []byte(served.body), 0o600))
		expect.NoError(t, os.Mkdir(filepath.Join(folder, "client"), 0o700))
		output(t, folder, nil, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "client",
			"-o", "client/client.go", "openapi.json")
		runClient(t, folder, "go", "run", ".")
	})
}

// runClient runs a client against a server, as an editor.
func runClient(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	s, namespace, token := startForEditor(t)
	output(t, folder, []string{"URL=" + s.url, "TOKEN=" + token, "NAMESPACE=" + namespace}, name, args...)
}

// output runs a command and returns its output.
func output(t *testing.T, folder string, environment []string, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Env = folder, append(os.Environ(), environment...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, args, err, out)
	}
}
