//go:build images

package images

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestTheBundleImage: catalogs read the labels, which must say what annotations.yaml
// within says, and opm renders the image as it renders the folder.
func TestTheBundleImage(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e *engine) {
		reference := e.registry + "/darkroom-operator-bundle:v1"
		e.make(t, "bundle-build", "BUNDLE_IMG="+reference)
		// The second time, nothing of the first must be pushed along.
		e.make(t, "bundle-push", "BUNDLE_IMG="+reference)
		e.make(t, "bundle-push", "BUNDLE_IMG="+reference)
		for architecture, image := range pulled(t, reference) {
			labels := configOf(t, image).Labels
			for key, value := range annotations(t) {
				if labels[key] != value {
					t.Errorf("%s has the label %s=%s, annotations.yaml says %s", architecture, key, labels[key], value)
				}
			}
			bundle := filepath.Join(repository, "bundle")
			compare(t, digests(contents(t, image)), folders(t, map[string]string{
				"/manifests": filepath.Join(bundle, "manifests"), "/metadata": filepath.Join(bundle, "metadata"),
				"/tests/scorecard": filepath.Join(bundle, "tests", "scorecard"),
			}))
		}
		rendered := opm(t, "render", "--use-http", reference, "--output", "yaml")
		if want := opm(t, "render", filepath.Join(repository, "bundle"), "--output", "yaml"); !strings.Contains(rendered, "schema: olm.bundle") ||
			strings.Count(rendered, "\n") < strings.Count(want, "\n") {
			t.Errorf("opm makes this of the image: %s", rendered)
		}
	})
}

// TestTheCatalogImage: the folder catalog/, and the cache that opm made of it while the
// image was built.
func TestTheCatalogImage(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e *engine) {
		reference := e.registry + "/darkroom-operator-catalog:latest"
		flags := "BUILD_FLAGS=--build-arg OPM_IMAGE=" + pushOPM(t, e.registry, filepath.Join(setting(t, "BIN_DIR"), "k8s", "opm"))
		e.make(t, "catalog-build", "CATALOG_IMG="+reference, flags)
		e.make(t, "catalog-push", "CATALOG_IMG="+reference, flags)
		for architecture, image := range pulled(t, reference) {
			config := configOf(t, image)
			if config.Labels["operators.operatorframework.io.index.configs.v1"] != "/configs" {
				t.Errorf("%s has the labels %q", architecture, config.Labels)
			}
			if command := strings.Join(append(config.Entrypoint, config.Cmd...), " "); command != "/bin/opm serve /configs --cache-dir=/tmp/cache" {
				t.Errorf("%s runs %s", architecture, command)
			}
			has := digests(contents(t, image))
			maps.DeleteFunc(has, func(name, _ string) bool { return !strings.HasPrefix(name, "/configs/") })
			compare(t, has, folders(t, map[string]string{"/configs": filepath.Join(repository, "catalog")}))
			// opm uses the cache as it is, and does not rebuild it at each start.
			unpacked := unpack(t, image)
			opm(t, "serve", filepath.Join(unpacked, "configs"), "--cache-dir", filepath.Join(unpacked, "tmp", "cache"),
				"--cache-only", "--cache-enforce-integrity", "--termination-log", filepath.Join(unpacked, "ended"))
		}
	})
}

// annotations are those of the bundle.
func annotations(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "bundle", "metadata", "annotations.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := yaml.Unmarshal(text, &content); err != nil || len(content.Annotations) < 6 {
		t.Fatalf("annotations.yaml has %v: %v", content.Annotations, err)
	}
	return content.Annotations
}

func opm(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(setting(t, "BIN_DIR"), "k8s", "opm"), args...)
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("opm %s: %v: %s", strings.Join(args, " "), err, complaints.String())
	}
	return string(out)
}

// digests leaves of contents what folders have too: modes depend on who made them.
func digests(files map[string]string) map[string]string {
	for name, is := range files {
		files[name] = is[strings.LastIndex(is, " ")+1:]
	}
	return files
}
