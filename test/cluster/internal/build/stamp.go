package build

import (
	"crypto/sha256"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// stamp describes the inputs of a build. Equal stamps mean that a build would
// produce the same binary.
func (b *Builder) stamp(c Component, version string) (string, error) {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s\n%s %s/%s\n%s\n", c.Name, version, b.goVersion, runtime.GOOS, runtime.GOARCH,
		strings.Join(buildArgs(c, version), " "))
	module := b.moduleDir(c)
	var inputs []string
	// The version of a download determines its go.mod and go.sum.
	if c.Requires != "" && !c.InDownload && !b.isOther(c) {
		inputs = append(inputs, filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum"))
	}
	if build.IsLocalImport(c.Package) && !c.InDownload {
		sources, err := filepath.Glob(filepath.Join(module, c.Package, "*.go"))
		if err != nil {
			return "", err
		}
		inputs = append(inputs, sources...)
	}
	for _, path := range inputs {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read the inputs of %s: %w", c.Name, err)
		}
		fmt.Fprintf(&s, "%s sha256:%x\n", filepath.Base(path), sha256.Sum256(data))
	}
	return s.String(), nil
}

func (b *Builder) stampPath(c Component) string {
	return filepath.Join(b.BinDir, ".stamps", c.Name)
}

// upToDate reports whether the binary of c exists and has this stamp.
func (b *Builder) upToDate(c Component, stamp string) bool {
	_, missing := os.Stat(filepath.Join(b.BinDir, c.Name))
	have, err := os.ReadFile(b.stampPath(c))
	return missing == nil && err == nil && string(have) == stamp
}
