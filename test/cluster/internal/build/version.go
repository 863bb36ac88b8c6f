package build

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// ownVersion is the version of components that are packages of this tool.
const ownVersion = "v1"

// downloadsMod pins the versions of the components that are built inside their downloads,
// and downloads.sum their checksums. A module that required them would depend on all that
// they do, so none does.
const downloadsMod = "downloads.mod"

// Version returns the version of c, as pinned in the folder of the programs.
func (c Component) Version(programs string) (string, error) {
	if c.Requires == "" {
		return ownVersion, nil
	}
	path := filepath.Join(programs, c.modFile())
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

// modFile is the name of the file that pins the version of c.
func (c Component) modFile() string {
	if c.InDownload {
		return downloadsMod
	}
	return "go.mod"
}
