package docs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestAShellIsTypedInto(t *testing.T) {
	shell, err := startShell(t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shell.Close(); err != nil {
			t.Error(err)
		}
	}()
	run := func(commands string) string {
		t.Helper()
		said, err := shell.run(t.Context(), commands)
		if err != nil {
			t.Fatalf("%s: %v: %s", commands, err, said)
		}
		return said
	}
	watched := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "watched\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer watched.Close()
	run("A=kept\nsleep 600 &\n")
	if said := run("echo $A; cat\n"); said != "kept\n" {
		t.Errorf("it says %q", said)
	}
	for _, e := range []exchange{
		{"curl -sN " + watched.URL + "\n", "watched\n"},
		{"sh -c 'echo refused; exit 1'\n", "refused\n"},
		{"B=$A\n", ""},
	} {
		if err := shell.ask(t.Context(), e); err != nil {
			t.Errorf("%s: %v", e.command, err)
		}
	}
	if said := run("echo $B; kill %1\n"); !strings.HasPrefix(said, "kept\n") {
		t.Errorf("it says %q: was the background interrupted too?", said)
	}
	if err := shell.ask(t.Context(), exchange{"echo other\n", "shown\n"}); err == nil {
		t.Error("another answer than the one that is shown is taken")
	}
	if said, err := shell.run(t.Context(), "false\necho further\n"); err == nil || said != "" {
		t.Errorf("after a command that failed it says %q, %v", said, err)
	}
}
