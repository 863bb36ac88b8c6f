// Package controlplane starts a real kube-apiserver with etcd for tests. It serves the CRDs that the operator needs,
// but runs no controllers: pods are not created, garbage is not collected, and namespaces are never removed.
package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// Missing is the reason to skip tests without a control plane.
const Missing = "KUBEBUILDER_ASSETS is not set to a directory with kube-apiserver and etcd; `make test` sets it"

// Available reports whether a control plane can be started.
func Available() bool { return os.Getenv("KUBEBUILDER_ASSETS") != "" }

// Start starts a control plane with the CRDs of Darkrooms, HTTPRoutes and other kinds. It returns the configuration of
// an administrator without rate limits, and a function that stops the control plane.
func Start(
	more ...*apiextensionsv1.CustomResourceDefinition,
) (administrator *rest.Config, stop func() error, err error) {
	files, err := definitions()
	if err != nil {
		return nil, nil, err
	}
	return start(&envtest.Environment{CRDDirectoryPaths: files, CRDs: more})
}

// StartToMeasure is like Start, with only the CRD of Darkrooms.
func StartToMeasure() (administrator *rest.Config, stop func() error, err error) {
	files, err := definitions()
	if err != nil {
		return nil, nil, err
	}
	return start(&envtest.Environment{CRDDirectoryPaths: files[:1]})
}

func start(environment *envtest.Environment) (administrator *rest.Config, stop func() error, err error) {
	if administrator, err = run(environment); err != nil {
		return nil, nil, err
	}
	return administrator, func() error {
		if err := environment.Stop(); err != nil {
			return fmt.Errorf("stop API server: %w", err)
		}
		return nil
	}, nil
}

func run(environment *envtest.Environment) (*rest.Config, error) {
	environment.ErrorIfCRDPathMissing = true
	// The defaults of envtest are 20 seconds, and 10 seconds for CRDs.
	environment.ControlPlaneStartTimeout, environment.ControlPlaneStopTimeout = wait.Patience, wait.Patience
	environment.CRDInstallOptions.MaxTime = wait.Patience
	// The default range has only about 250 addresses; tests create Services of thousands of Darkrooms.
	environment.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.96.0.0/16")
	administrator, err := environment.Start()
	if err != nil {
		return nil, fmt.Errorf("start API server: %w", err)
	}
	administrator.QPS, administrator.Burst = -1, -1
	return administrator, nil
}

// Main runs the tests of a package with a shared control plane, and returns the exit code. It calls prepare before the
// first test. It runs no tests if the programs of a control plane are missing.
func Main(m *testing.M, prepare func(administrator *rest.Config) error) int {
	return MainWith(m, nil, prepare)
}

// MainWith is like Main, with flags for the API server, given without dashes.
func MainWith(m *testing.M, flags map[string]string, prepare func(administrator *rest.Config) error) int {
	if !Available() {
		fmt.Println("skipped:", Missing)
		return 0
	}
	files, err := definitions()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	environment := &envtest.Environment{CRDDirectoryPaths: files}
	for name, value := range flags {
		environment.ControlPlane.GetAPIServer().Configure().Set(name, value)
	}
	administrator, stop, err := start(environment)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := 1
	if err := prepare(administrator); err != nil {
		fmt.Fprintln(os.Stderr, "prepare API server:", err)
	} else {
		code = m.Run()
	}
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// definitions are files with the CRD of Darkrooms, followed by CRDs of other projects.
func definitions() ([]string, error) {
	const operator, gatewayAPI = "github.com/darkroom-operator/darkroom-operator", "sigs.k8s.io/gateway-api"
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", operator, gatewayAPI).Output()
	if err != nil {
		return nil, fmt.Errorf("find the modules that define kinds: %w", err)
	}
	folders := strings.Fields(string(out))
	if len(folders) != 2 {
		return nil, fmt.Errorf("find the modules that define kinds: found %q", folders)
	}
	return []string{
		filepath.Join(folders[0], "config", "crd", "bases"),
		filepath.Join(folders[1], "config", "crd", "standard", "gateway.networking.k8s.io_httproutes.yaml"),
	}, nil
}
