//go:build e2e

package olm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
	"github.com/darkroom-operator/darkroom-operator/test/docs"
)

// projectImages is the registry to which the project publishes its images, and from which config/olmv0 and config/olmv1
// pull them. The tests' registry mirrors it.
const projectImages = "ghcr.io/darkroom-operator"

var catalogLabels = map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}

// installsFromTheMirror runs the documents' commands on a node that reaches only a mirror of a release's images: the
// documents name the original hosts. The bundle references the images of operator and Darkroom by digest, so the node
// cannot pull them from elsewhere.
func installsFromTheMirror(t *testing.T, mirror string, setting docs.Setting) {
	publish(t, mirror)
	mirrorForNode(t, mirror, "ghcr.io", "docker.io")
	docs.Run(t, repository, binaries, setting)
}

// publish pushes the artifacts of a release to a mirror: operator, Darkroom's stand-in, bundle and catalog, which
// reference each other by digest, as `hack/pin.sh` does.
func publish(t *testing.T, host string) {
	t.Helper()
	pinned := func(image, digest string) string { return image[:strings.LastIndex(image, ":")] + "@" + digest }
	atMirror := func(image string) string {
		_, path, _ := strings.Cut(image, "/")
		return host + "/" + path
	}
	folder := t.TempDir()
	archive := filepath.Join(folder, "darkroom.tar")
	mustRun(t, filepath.Join(binaries, "cluster"), "image", "--output", archive, "--workdir", "/app",
		images.DarkroomImage+"="+filepath.Join(binaries, "darkroom"))
	operator := pinned(operatorImage+thisVersion,
		pushArchive(t, atMirror(operatorImage+thisVersion), filepath.Join(binaries, "image-release.tar")))
	darkroom := pinned(images.DarkroomImage, pushArchive(t, atMirror(images.DarkroomImage), archive))

	t.Setenv("DARKROOM_IMAGE", darkroom)
	// No Darkroom in this test has a gate, so any image with a digest can be used.
	t.Setenv("GATE_IMAGE", darkroom)
	mustRun(t, filepath.Join(repository, "hack", "bundle.sh"), thisVersion, operator, folder)
	bundle := filepath.Join(folder, "bundle")
	listsItsImagesForMirrors(t, bundle, true)
	reference := bundleReference(projectImages, thisVersion)
	reference = pinned(reference, pushBundle(t, atMirror(reference), bundle))

	catalog := filepath.Join(folder, "catalog")
	must(t, os.CopyFS(catalog, os.DirFS(filepath.Join(repository, "catalog"))))
	mustRun(t, filepath.Join(repository, "hack", "catalog.sh"), bundle, reference,
		filepath.Join(catalog, packageName, "bundles.yaml"))
	push(t, atMirror(projectImages+"/darkroom-operator-catalog:latest"),
		map[string]string{"/": catalogRoot(t, catalog), "/configs": catalog},
		v1.Config{
			Entrypoint: []string{"/bin/opm"}, Cmd: []string{"serve", "/configs", "--cache-dir=/tmp/cache"},
			User: "1001", Labels: catalogLabels,
		})
}

// catalogRoot contains the other files of catalog.Dockerfile: opm, the program for the pod's probe, and the cache,
// which is created in advance and read by another user.
func catalogRoot(t *testing.T, catalog string) string {
	t.Helper()
	root := t.TempDir()
	built := filepath.Join(binaries, "k8s")
	opm := filepath.Join(root, "bin", "opm")
	for _, command := range [][]string{
		{"install", "-D", filepath.Join(built, "opm"), opm},
		{"install", filepath.Join(built, "grpc-health-probe"), filepath.Join(root, "bin", "grpc_health_probe")},
		{opm, "serve", catalog, "--cache-dir=" + filepath.Join(root, "tmp", "cache"), "--cache-only"},
		{"chmod", "--recursive", "a+rwX", filepath.Join(root, "tmp")},
	} {
		mustRun(t, command[0], command[1:]...)
	}
	return root
}

// mirrorForNode makes the node pull images of registries only from a mirror.
func mirrorForNode(t *testing.T, mirror string, registries ...string) {
	t.Helper()
	for _, registry := range registries {
		folder := filepath.Join(os.Getenv("CLUSTER_DIR"), "node", "registries", registry)
		must(t, os.MkdirAll(folder, 0o755))
		// containerd falls back to the server.
		hosts := fmt.Sprintf(
			"server = \"http://%[1]s\"\n\n[host.\"http://%[1]s\"]\n  capabilities = [\"pull\", \"resolve\"]\n", mirror,
		)
		must(t, os.WriteFile(filepath.Join(folder, "hosts.toml"), []byte(hosts), 0o600))
		t.Cleanup(func() {
			if err := os.RemoveAll(folder); err != nil {
				t.Error(err)
			}
		})
	}
}
