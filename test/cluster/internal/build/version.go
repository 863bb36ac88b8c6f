package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ownVersion is the version of components that are packages of this tool.
const ownVersion = "v1"

// Version returns the version of c, as pinned under modulesDir.
func (c Component) Version(modulesDir string) (string, error) {
	if c.Module == "" {
		return ownVersion, nil
	}
	path := filepath.Join(modulesDir, c.Module, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the version of %s: %w", c.Name, err)
	}
	version, ok := requiredVersion(string(data), c.Requires)
	if !ok {
		return "", fmt.Errorf("%s does not require %s", path, c.Requires)
	}
	return version, nil
}

// requiredVersion finds the version of modulePath in the text of a go.mod. It
// reads only requirements, written on one line or in a block.
func requiredVersion(goMod, modulePath string) (string, bool) {
	for line := range strings.Lines(goMod) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) == 2 && fields[0] == modulePath && strings.HasPrefix(fields[1], "v") {
			return fields[1], true
		}
	}
	return "", false
}
