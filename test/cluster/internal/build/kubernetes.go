package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// isOther reports whether c is a component of Kubernetes in another version than the one
// that the modules pin.
func (b *Builder) isOther(c Component) bool {
	return b.Kubernetes != "" && c.Requires == kubernetesModule
}

// version returns the version of c to build.
func (b *Builder) version(c Component) (string, error) {
	if b.isOther(c) {
		return b.Kubernetes, nil
	}
	return c.Version(b.ProgramsDir)
}

// writeModule writes a module that requires a version of Kubernetes, whose source is in a
// folder, and returns its folder. The go.mod of Kubernetes itself requires the modules of
// its folder staging without a version; they are published with the same minor and patch
// version as v0.
func (b *Builder) writeModule(source, version string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read the requirements of Kubernetes %s: %w", version, err)
	}
	published, err := modfile.Parse("go.mod", raw, nil)
	if err != nil {
		return "", fmt.Errorf("read the requirements of Kubernetes %s: %w", version, err)
	}
	module := &modfile.File{}
	staging := "v0" + strings.TrimPrefix(version, "v1")
	if err := module.AddModuleStmt("kubernetes"); err != nil {
		return "", err
	}
	if err := module.AddGoStmt(strings.TrimPrefix(b.goVersion, "go")); err != nil {
		return "", err
	}
	if err := module.AddRequire(kubernetesModule, version); err != nil {
		return "", err
	}
	for _, replaced := range published.Replace {
		if strings.HasPrefix(replaced.New.Path, "./staging/") {
			if err := module.AddReplace(replaced.Old.Path, replaced.Old.Version, replaced.Old.Path, staging); err != nil {
				return "", err
			}
		}
	}
	text, err := module.Format()
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile(filepath.Join(source, "go.sum"))
	if err != nil {
		return "", fmt.Errorf("read the checksums of Kubernetes %s: %w", version, err)
	}
	folder := filepath.Join(b.BinDir, ".module")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("make the module of Kubernetes %s: %w", version, err)
	}
	for name, content := range map[string][]byte{"go.mod": text, "go.sum": sums} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return "", fmt.Errorf("make the module of Kubernetes %s: %w", version, err)
		}
	}
	return folder, nil
}
