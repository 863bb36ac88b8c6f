package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// isOther reports whether c is a component of Kubernetes in a version other than the one that the modules pin.
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

// writeModule writes a module that requires a version of Kubernetes, whose source is in a folder, and returns the
// module's folder. The go.mod of Kubernetes itself requires the modules in its folder staging without a version; they
// are published as v0 with the same minor and patch version.
func (b *Builder) writeModule(source, version string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return "", err
	}
	published, err := modfile.Parse("go.mod", raw, nil)
	if err != nil {
		return "", err
	}
	module := &modfile.File{}
	err = errors.Join(
		module.AddModuleStmt("kubernetes"),
		module.AddGoStmt(strings.TrimPrefix(b.goVersion, "go")),
		module.AddRequire(kubernetesModule, version),
	)
	for _, replaced := range published.Replace {
		if strings.HasPrefix(replaced.New.Path, "./staging/") {
			staging := "v0" + strings.TrimPrefix(version, "v1")
			err = errors.Join(err, module.AddReplace(replaced.Old.Path, replaced.Old.Version, replaced.Old.Path, staging))
		}
	}
	if err != nil {
		return "", err
	}
	text, err := module.Format()
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile(filepath.Join(source, "go.sum"))
	if err != nil {
		return "", err
	}
	folder := filepath.Join(b.BinDir, ".module")
	return folder, errors.Join(
		os.MkdirAll(folder, 0o755),
		os.WriteFile(filepath.Join(folder, "go.mod"), text, 0o644),
		os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o644),
	)
}
