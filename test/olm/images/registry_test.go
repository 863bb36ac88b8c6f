//go:build images

package images

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// startRegistry runs a registry on loopback until the test ends, and returns its host.
func startRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// pulled are the images behind a reference, by their architecture. It fails the test
// unless they are exactly those that were asked for.
func pulled(t *testing.T, reference string) map[string]v1.Image {
	t.Helper()
	target, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(target)
	if err != nil {
		t.Fatalf("%s is not a list of images for platforms: %v", reference, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]v1.Image{}
	for _, entry := range manifest.Manifests {
		image, err := index.Image(entry.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Architecture != entry.Platform.Architecture || config.OS != "linux" {
			t.Errorf("%s lists an image of %s/%s for %s", reference, config.OS, config.Architecture, entry.Platform)
		}
		if _, twice := found[config.Architecture]; twice {
			t.Errorf("%s lists two images for %s", reference, config.Architecture)
		}
		found[config.Architecture] = image
	}
	if len(found) != 2 || found["amd64"] == nil || found["arm64"] == nil {
		t.Fatalf("%s has images for %d platforms: %v", reference, len(found), manifest.Manifests)
	}
	return found
}

func configOf(t *testing.T, image v1.Image) v1.Config {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return config.Config
}
