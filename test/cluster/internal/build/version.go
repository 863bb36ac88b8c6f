package build

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
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
	file, err := modfile.ParseLax(path, data, nil)
	if err != nil {
		return "", fmt.Errorf("read the version of %s: %w", c.Name, err)
	}
	for _, require := range file.Require {
		if require.Mod.Path == c.Requires {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", path, c.Requires)
}
