//go:build e2e

package olm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// The two releases of the tests: the release of this tree, to which bundle/ belongs, and an earlier one, which `make
// e2e-olm` has built from its own source (see hack/previous.sh).
var thisVersion, previousVersion string

const operatorImage = "ghcr.io/darkroom-operator/darkroom-operator:v"

// Names of the images on the node.
const (
	olmImage                = "docker.io/darkroom-e2e/olm:v0.42.0"
	operatorControllerImage = "docker.io/darkroom-e2e/operator-controller:v1.2.0"
	catalogdImage           = "docker.io/darkroom-e2e/catalogd:v1.2.0"
	opmImage                = "docker.io/darkroom-e2e/opm:v1.56.0"
)

// previousSource is the folder of the earlier release's source, with its bundle.
func previousSource() string { return filepath.Join(binaries, "previous", "source") }

// readVersions determines which releases are tested.
func readVersions() error {
	thisVersion = os.Getenv("RELEASE")
	text, err := os.ReadFile(filepath.Join(binaries, "previous", "version"))
	previousVersion = strings.TrimSpace(string(text))
	return err
}

// loadImages packs programs as images of the node, without a registry. `make e2e-olm` builds the operator's own images.
func loadImages(ctx context.Context) error {
	built := func(name string) string { return filepath.Join(binaries, "k8s", name) }
	copying, err := copyTools(ctx)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{filepath.Join(binaries, "image-release.tar"), filepath.Join(binaries, "previous", "image.tar")},
		{"--workdir", "/app", images.DarkroomImage + "=" + filepath.Join(binaries, "darkroom")},
		{images.SourcesImage + "=" + filepath.Join(binaries, "sources")},
		append(copying, "--path", "/bin/olm", olmImage+"="+built("olm")),
		{"--path", "/bin/opm", opmImage + "=" + built("opm")},
		{operatorControllerImage + "=" + built("operator-controller")},
		{catalogdImage + "=" + built("catalogd")},
	} {
		if err := load(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// copyTools returns arguments of `cluster load` for the other programs in the image of version 0: its second operator,
// and the programs that it copies from there to unpack bundles, which are its own program and this machine's cp with
// its libraries.
func copyTools(ctx context.Context) ([]string, error) {
	cp, err := exec.LookPath("cp")
	if err != nil {
		return nil, err
	}
	libraries, err := program.Output(ctx, "ldd", cp)
	if err != nil {
		return nil, err
	}
	arguments := []string{"--file", "/bin/cp=" + cp}
	for _, name := range []string{"catalog", "cpb"} {
		arguments = append(arguments, "--file", "/bin/"+name+"="+filepath.Join(binaries, "k8s", name))
	}
	for word := range strings.FieldsSeq(string(libraries)) {
		if filepath.IsAbs(word) {
			arguments = append(arguments, "--file", word+"="+word)
		}
	}
	return arguments, nil
}

// load runs `cluster load`.
func load(ctx context.Context, args ...string) error {
	_, err := program.Output(ctx, filepath.Join(binaries, "cluster"), append([]string{"load"}, args...)...)
	return err
}

// moduleFolder returns the folder of a downloaded module in which components of the test cluster are built; it also
// contains their manifests.
func moduleFolder(t *testing.T, module string) string {
	t.Helper()
	programs := filepath.Join(repository, "test", "cluster", "programs")
	folder := strings.TrimSpace(mustRun(t, "go", "-C", programs, "list", "-modfile=downloads.mod",
		"-m", "-f", "{{.Dir}}", module))
	if folder == "" {
		t.Fatalf("%s is not downloaded: run cluster build olm", module)
	}
	return folder
}

// startImages runs a web folder as a pod, and returns its URL.
func startImages(ctx context.Context) (string, error) {
	namespace := namespaceObject("pictures")
	pod := images.SourcePod(namespace.Name, "webfolder", "webfolder", 8080)
	for _, object := range []client.Object{namespace, pod} {
		if err := client.IgnoreAlreadyExists(kube.Create(ctx, object)); err != nil {
			return "", err
		}
	}
	_, err := program.Output(ctx, "kubectl", "wait", "pod", pod.Name, "--for=condition=Ready", "--namespace",
		pod.Namespace, "--timeout=4m")
	err = errors.Join(err, kube.Get(ctx, client.ObjectKeyFromObject(pod), pod))
	return fmt.Sprintf("http://%s:8080", pod.Status.PodIP), err
}
