package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// StagesFile is the name, in the folder of binaries, of the file that tells
// kwok how simulated nodes and pods behave.
const StagesFile = "kwok-stages.yaml"

// stages are the files of kwok's module that make nodes ready at once, renew
// their leases, and make pods ready, complete and go away at once.
var stages = []string{
	"node/fast/node-initialize.yaml",
	"node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"pod/fast/pod-ready.yaml",
	"pod/fast/pod-complete.yaml",
	"pod/fast/pod-delete.yaml",
}

// copyStages joins the stages into one file, so that a cluster can start
// without the module cache.
func (b *Builder) copyStages(ctx context.Context, c Component) error {
	list := exec.CommandContext(ctx, "go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", c.Requires)
	list.Dir = b.moduleDir(c)
	list.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	dir, err := list.Output()
	if err != nil {
		return fmt.Errorf("find the module %s: %w", c.Requires, err)
	}
	var joined bytes.Buffer
	for _, stage := range stages {
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "kustomize", "stage", filepath.FromSlash(stage)))
		if err != nil {
			return err
		}
		fmt.Fprintf(&joined, "---\n%s\n", bytes.TrimSpace(data))
	}
	return os.WriteFile(filepath.Join(b.BinDir, StagesFile), joined.Bytes(), 0o644)
}
