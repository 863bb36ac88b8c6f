//go:build e2e

package olm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/darkroom-operator/darkroom-operator/test/docs"
)

// projectImages is where the project publishes its images, and where config/olmv0 and
// config/olmv1 have them from. The tests' registry mirrors it.
const projectImages = "ghcr.io/darkroom-operator"

var catalogLabels = map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}

// runDocuments does what docs/install.md says about a lifecycle manager that runs, as it
// is written there; see test/docs.
func runDocuments(t *testing.T, setting docs.Setting) {
	t.Helper()
	checkout := filepath.Join(t.TempDir(), "darkroom-operator")
	if err := docs.Checkout(t.Context(), repository, binaries, checkout); err != nil {
		t.Fatal(err)
	}
	environment, err := docs.NewEnvironment(checkout, binaries)
	if err != nil {
		t.Fatal(err)
	}
	for _, scenario := range docs.Scenarios {
		if scenario.Setting == setting {
			t.Run(scenario.Name, func(t *testing.T) { environment.Run(t, scenario) })
		}
	}
}

// followsDocuments is the last step of version 0. Here the node pulls the images of
// catalog and bundle, and the lifecycle manager runs the one and unpacks the other.
func followsDocuments(t *testing.T) {
	remove(t, &operatorsv1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: lifecycleNamespace, Name: catalogSource}})
	authority := newAuthority(t)
	host := startRegistry(t, authority)
	pushAsPublished(t, authority, host)
	mirrorForNode(t, authority, host)
	runDocuments(t, docs.OLM0)
}

// pushAsPublished pushes bundle and catalog of the repository where a mirror of their
// names has them.
func pushAsPublished(t *testing.T, authority *authority, host string) {
	t.Helper()
	mirror := host + strings.TrimPrefix(projectImages, "ghcr.io")
	pushRelease(t, authority, mirror, thisVersion)
	push(t, authority, mirror+"/darkroom-operator-catalog:latest",
		map[string]string{"/": catalogRoot(t), "/configs": filepath.Join(repository, "catalog")},
		v1.Config{
			Entrypoint: []string{"/bin/opm"}, Cmd: []string{"serve", "/configs", "--cache-dir=/tmp/cache"},
			User: "1001", Labels: catalogLabels,
		})
}

// catalogRoot is what catalog.Dockerfile has besides the catalog: opm, the program that
// its pod is probed with, and the cache, which is made beforehand and read by another user.
func catalogRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	built := filepath.Join(binaries, "k8s")
	opm := filepath.Join(root, "bin", "opm")
	for _, command := range [][]string{
		{"install", "-D", filepath.Join(built, "opm"), opm},
		{"install", filepath.Join(built, "grpc-health-probe"), filepath.Join(root, "bin", "grpc_health_probe")},
		{opm, "serve", filepath.Join(repository, "catalog"), "--cache-dir=" + filepath.Join(root, "tmp", "cache"), "--cache-only"},
		{"chmod", "--recursive", "a+rwX", filepath.Join(root, "tmp")},
	} {
		if _, err := run(t.Context(), command[0], command[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// mirrorForNode has the node pull the project's images from a registry.
func mirrorForNode(t *testing.T, authority *authority, host string) {
	t.Helper()
	folder := filepath.Join(os.Getenv("CLUSTER_DIR"), "node", "registries", "ghcr.io")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	authorities := filepath.Join(folder, "ca.pem")
	hosts := fmt.Sprintf("server = \"https://ghcr.io\"\n\n[host.\"https://%s\"]\n  capabilities = [\"pull\", \"resolve\"]\n  ca = %q\n", host, authorities)
	for path, content := range map[string][]byte{authorities: authority.bundle, filepath.Join(folder, "hosts.toml"): []byte(hosts)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
}
