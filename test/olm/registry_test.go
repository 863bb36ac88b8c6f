//go:build e2e

package olm

import (
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/image"
)

// startRegistry runs an image registry without TLS at the node's address, which pods can reach, until the test ends,
// and returns its host.
func startRegistry(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(nodeIP, "0"))
	must(t, err)
	server := httptest.NewUnstartedServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

// push pushes an image with one layer of folders, given by their paths in it, to the registry. It returns the digest.
func push(t *testing.T, reference string, folders map[string]string, config v1.Config) string {
	t.Helper()
	var files []image.File
	for target, source := range folders {
		files = append(files, image.File{Path: target, Source: source})
	}
	packed, err := image.Build(files, config)
	must(t, err)
	return pushImage(t, reference, packed)
}

// pushArchive pushes the image in a docker-archive, and returns the digest.
func pushArchive(t *testing.T, reference, archive string) string {
	t.Helper()
	packed, err := tarball.ImageFromPath(archive, nil)
	must(t, err)
	return pushImage(t, reference, packed)
}

func pushImage(t *testing.T, reference string, packed v1.Image) string {
	t.Helper()
	target, err := name.ParseReference(reference, name.Insecure)
	if err == nil {
		err = remote.Write(target, packed, remote.WithContext(t.Context()))
	}
	if err != nil {
		t.Fatalf("push %s: %v", reference, err)
	}
	digest, err := packed.Digest()
	must(t, err)
	return digest.String()
}

// bundleLabels are the labels that the bundle.Dockerfile of a bundle sets on the image.
func bundleLabels(t *testing.T, bundle string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(bundle, "metadata", "annotations.yaml"))
	must(t, err)
	var metadata struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := yaml.Unmarshal(text, &metadata); err != nil || len(metadata.Annotations) < 6 {
		t.Fatalf("annotations.yaml has %v: %v", metadata.Annotations, err)
	}
	return metadata.Annotations
}
