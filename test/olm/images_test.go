//go:build e2e

package olm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The two releases of the tests: the one of this tree, which bundle/ is for, and an earlier
// one, which `make e2e-olm` has built from its own source (see hack/previous.sh).
var thisVersion, previousVersion string

const operatorImage = "ghcr.io/darkroom-operator/darkroom-operator:v"

// Images as the node knows them.
const (
	darkroomImage = "docker.io/gojektech/darkroom:v0.4.2"
	sourcesImage  = "docker.io/darkroom-e2e/sources:v1"

	olmImage                = "docker.io/darkroom-e2e/olm:v0.42.0"
	catalogOperatorImage    = "docker.io/darkroom-e2e/catalog-operator:v0.42.0"
	operatorControllerImage = "docker.io/darkroom-e2e/operator-controller:v1.2.0"
	catalogdImage           = "docker.io/darkroom-e2e/catalogd:v1.2.0"
	opmImage                = "docker.io/darkroom-e2e/opm:v1.56.0"
)

// previousSource is the folder of the earlier release's source, with its bundle.
func previousSource() string { return filepath.Join(binaries, "previous", "source") }

// readVersions learns which releases the tests are about.
func readVersions() error {
	thisVersion = os.Getenv("RELEASE")
	text, err := os.ReadFile(filepath.Join(binaries, "previous", "version"))
	previousVersion = strings.TrimSpace(string(text))
	return err
}

// loadImages packs programs as images of the node: no registry is asked. The operator's
// own images are made by `make e2e-olm`.
func loadImages(ctx context.Context) error {
	copying, err := copyTools(ctx)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{filepath.Join(binaries, "image-release.tar"), filepath.Join(binaries, "previous", "image.tar")},
		{"--workdir", "/app", darkroomImage + "=" + filepath.Join(binaries, "darkroom")},
		{sourcesImage + "=" + filepath.Join(binaries, "sources")},
		{"--path", "/bin/olm", olmImage + "=" + filepath.Join(binaries, "k8s", "olm")},
		append(copying, "--path", "/bin/catalog", catalogOperatorImage+"="+filepath.Join(binaries, "k8s", "catalog")),
		{"--path", "/bin/opm", opmImage + "=" + filepath.Join(binaries, "k8s", "opm")},
		{operatorControllerImage + "=" + filepath.Join(binaries, "k8s", "operator-controller")},
		{catalogdImage + "=" + filepath.Join(binaries, "k8s", "catalogd")},
	} {
		if err := load(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// copyTools are the programs that version 0 copies from its own image to unpack bundles: its program
// for that, and cp.
func copyTools(ctx context.Context) ([]string, error) {
	cp, err := tools(ctx, "cp")
	return append(cp, "--file", "/bin/cpb="+filepath.Join(binaries, "k8s", "cpb")), err
}

// tools are arguments of `cluster load` for programs of this machine in /bin, with their
// libraries.
func tools(ctx context.Context, names ...string) ([]string, error) {
	var arguments []string
	packed := map[string]bool{}
	for _, name := range names {
		program, err := exec.LookPath(name)
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, "--file", "/bin/"+name+"="+program)
		libraries, err := run(ctx, "ldd", program)
		if err != nil {
			return nil, err
		}
		for _, word := range strings.Fields(string(libraries)) {
			if filepath.IsAbs(word) && !packed[word] {
				packed[word] = true
				arguments = append(arguments, "--file", word+"="+word)
			}
		}
	}
	return arguments, nil
}

// load runs `cluster load`.
func load(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, filepath.Join(binaries, "cluster"), append([]string{"load"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster load %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// run runs a program and returns what it writes.
func run(ctx context.Context, program string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, program, args...)
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, complaints.String())
	}
	return out, nil
}

// moduleFolder is the folder of a downloaded module that components of the test cluster are
// built in; its manifests are there too.
func moduleFolder(ctx context.Context, module string) (string, error) {
	dir, err := run(ctx, "go", "-C", filepath.Join(repository, "test", "cluster", "programs"), "list", "-modfile=downloads.mod", "-m", "-f", "{{.Dir}}", module)
	if err == nil && len(dir) <= 1 {
		err = fmt.Errorf("%s is not downloaded: run cluster build olm", module)
	}
	return strings.TrimSpace(string(dir)), err
}

// startImages runs a web folder as a pod, and returns its URL.
func startImages(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "pictures"}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "webfolder"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "source", Image: sourcesImage, Args: []string{"webfolder", "--addr", ":8080"},
			ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)},
			}},
		}}},
	}
	for _, object := range []client.Object{namespace, pod} {
		if err := ensure(ctx, object); err != nil {
			return "", err
		}
	}
	err := poll(ctx, "the images are served", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("the pod is %s", pod.Status.Phase)
	})
	return fmt.Sprintf("http://%s:8080", pod.Status.PodIP), err
}
