//go:build e2e

package olm

import (
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/darkroom-operator/darkroom-operator/test/docs"
)

// projectImages is where the project publishes its images, and where config/olmv1 has
// them from. The tests' registry mirrors it.
const projectImages = "ghcr.io/darkroom-operator"

var catalogLabels = map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}

// tellDocuments does what docs/install.md says about a lifecycle manager that runs, as it
// is written there; see test/docs.
func tellDocuments(t *testing.T, setting docs.Setting) {
	t.Helper()
	checkout := filepath.Join(t.TempDir(), "darkroom-operator")
	if err := docs.Checkout(t.Context(), repository, binaries, checkout); err != nil {
		t.Fatal(err)
	}
	scene, err := docs.NewScene(checkout, binaries)
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range docs.Stories {
		if story.Setting == setting {
			t.Run(story.Name, func(t *testing.T) { scene.Tell(t, story) })
		}
	}
}

// pushAsPublished pushes bundle and catalog of the repository where a mirror of their
// names has them.
func pushAsPublished(t *testing.T, authority *authority, host string) {
	t.Helper()
	mirror := host + strings.TrimPrefix(projectImages, "ghcr.io")
	pushRelease(t, authority, mirror, thisVersion)
	push(t, authority, mirror+"/darkroom-operator-catalog:latest",
		map[string]string{"/configs": filepath.Join(repository, "catalog")}, v1.Config{Labels: catalogLabels})
}
