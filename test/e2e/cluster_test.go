//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// Names in config/default.
const (
	operatorNamespace = "darkroom-system"
	operatorAccount   = "darkroom-operator-controller-manager"
	metricsReader     = "darkroom-operator-metrics-reader"
)

// otherVersion is another release of Darkroom. Its image contains the same program.
const (
	otherVersion       = "0.4.1"
	otherDarkroomImage = "docker.io/gojektech/darkroom:v" + otherVersion
)

// gateImage returns the chart's default image of the gate.
func gateImage() (string, error) {
	version, err := os.ReadFile(filepath.Join(repository, "gate", "VERSION"))
	return "ghcr.io/darkroom-operator/darkroom-gate:v" + strings.TrimSpace(string(version)), err
}

// loadImages packs the built programs as images and loads them into the nodes. No registry is used.
func loadImages(ctx context.Context, dir string) error {
	tool := filepath.Join(binaries, "cluster")
	if _, err := os.Stat(tool); err != nil {
		tool = filepath.Join(repository, "bin", "cluster")
	}
	load := []string{tool, "load"}
	if given := strings.Fields(os.Getenv("LOAD")); len(given) > 0 {
		load = given
	}
	gate, err := gateImage()
	if err != nil {
		return err
	}
	for image, binary := range map[string]string{
		images.DarkroomImage: "darkroom", otherDarkroomImage: "darkroom", images.SourcesImage: "sources", gate: "gate",
	} {
		archive := filepath.Join(dir, "image.tar")
		for _, args := range [][]string{
			{tool, "image", "--output", archive, "--workdir", "/app", image + "=" + filepath.Join(binaries, binary)},
			append(slices.Clone(load), archive),
		} {
			if _, err := program.Output(ctx, args[0], args[1:]...); err != nil {
				return err
			}
		}
	}
	return nil
}

// installDefinitions applies config/default and the permissions of the API server, as `make deploy` does, except for
// the Deployments, whose processes are started by the tests. The operator watches the HTTPRoutes of the Gateway API,
// and Traefik all of its kinds.
func installDefinitions(ctx context.Context) error {
	folder, err := program.Output(ctx, "go", "-C", repository, "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api")
	if err != nil {
		return err
	}
	var documents [][]byte
	for _, plural := range []string{
		"backendtlspolicies", "gatewayclasses", "gateways", "grpcroutes",
		"httproutes", "referencegrants",
	} {
		definition, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "config", "crd", "standard",
			"gateway.networking.k8s.io_"+plural+".yaml"))
		if err != nil {
			return fmt.Errorf("read a CRD of the Gateway API: %w", err)
		}
		documents = append(documents, definition)
	}
	for _, part := range []string{"overlays/with-probe-via-apiserver", "apiserver"} {
		built, err := program.Output(ctx, "kubectl", "kustomize", filepath.Join(repository, "config", part))
		if err != nil {
			return err
		}
		documents = append(documents, built)
	}
	objects, err := manifests.Decode(bytes.Join(documents, []byte("\n---\n")))
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects,
		func(object *unstructured.Unstructured) bool { return object.GetKind() == "Deployment" })
	if err := manifests.Apply(ctx, kube, limits, objects...); err != nil {
		return err
	}
	_, err = program.Output(ctx, "kubectl", "wait", "--for=condition=Established", "--timeout=1m",
		"customresourcedefinitions", "--all")
	return err
}

// restricted returns a namespace in which Pod Security rejects every pod that is not hardened.
func restricted(name, generateName string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, GenerateName: generateName,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
}
