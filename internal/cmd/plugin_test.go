package cmd

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// Commands for users select the cluster by the same flags, and name the kubeconfig if it is missing.
func TestEachCommandThatReadsAClusterChoosesItAlike(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("KUBECONFIG", missing)
	arguments := map[string][]string{
		"status": {"photos"}, "report": {"photos"},
		"explain": {"https://photos.example.com/cat.jpg"}, "sign": {"photos", "https://photos.example.com/cat.jpg"},
	}
	for _, command := range newPlugin().Commands() {
		name := command.Name()
		if name == "template" { // needs no cluster
			continue
		}
		for _, flag := range []string{"kubeconfig", "context"} {
			if command.Flags().Lookup(flag) == nil {
				t.Errorf("%s has no flag --%s", name, flag)
			}
		}
		root := newPlugin()
		root.SetArgs(append([]string{name}, arguments[name]...))
		root.SetOut(io.Discard)
		err := root.ExecuteContext(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), "KUBECONFIG="+missing+": no such file") {
			t.Errorf("%s with a kubeconfig that is missing: %v", name, err)
		}
	}
}
