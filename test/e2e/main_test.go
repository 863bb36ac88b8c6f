//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// baseDomain is appended to each sub-domain by the operator under test.
const baseDomain = "darkroom.localhost"

// Variables that TestMain sets once and all tests share.
var (
	// repository is the absolute path of the repository.
	repository string
	// binaries is the absolute path of the folder with the built programs.
	binaries string
	// ingressURL is the URL of the ingress controller.
	ingressURL string
	// gatewayURL is the URL of the Gateways.
	gatewayURL string
	// metricsURL is the URL of the operator's metrics.
	metricsURL string

	// admin has all permissions in the cluster.
	admin     *rest.Config
	kube      client.Client
	clientset *kubernetes.Clientset

	// theOperator is the only operator in the cluster.
	theOperator *program.Program
	// theSources serve images.
	theSources sources
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run returns the exit code. If the test binary is killed, the operator is killed, too.
func run(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "darkroom-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "create a folder for the operator's log:", err)
		return 1
	}
	defer os.RemoveAll(dir)

	ctx, cancel := context.WithTimeout(context.Background(), 2*waitTimeout)
	defer cancel()
	if err := setUp(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, "set up:", err)
		code = 1
	} else {
		code = m.Run()
	}
	if theOperator == nil {
		return code
	}
	if err := theOperator.End(syscall.SIGTERM); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	if code != 0 {
		fmt.Fprintf(os.Stderr, "the operator's log:\n%s\n", theOperator.Log(400))
	}
	return code
}

// setUp prepares the cluster and starts the operator, which logs to dir.
func setUp(ctx context.Context, dir string) error {
	if err := readEnvironment(); err != nil {
		return err
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	var err error
	if admin, err = access.Administrator(); err != nil {
		return err
	}
	if kube, clientset, err = access.Clients(admin); err != nil {
		return err
	}
	if err := loadImages(ctx, dir); err != nil {
		return err
	}
	if err := installDefinitions(ctx); err != nil {
		return err
	}
	if err := startGateways(ctx, dir); err != nil {
		return err
	}
	if err := startOperator(ctx, dir); err != nil {
		return err
	}
	theSources, err = startSources(ctx)
	return err
}

func readEnvironment() error {
	var err error
	if repository, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		return err
	}
	ingressURL = os.Getenv("INGRESS_URL")
	binaries = os.Getenv("BIN_DIR")
	for _, name := range []string{"KUBECONFIG", "INGRESS_URL", "BIN_DIR"} {
		if os.Getenv(name) == "" {
			return fmt.Errorf("%s is not set: run `make e2e`, which sets it unless with CLUSTER=existing", name)
		}
	}
	return nil
}

// startOperator starts the operator with a token of its own ServiceAccount, so that it has exactly its usual
// permissions.
func startOperator(ctx context.Context, dir string) error {
	kubeconfig := filepath.Join(dir, "operator.kubeconfig")
	account := client.ObjectKey{Namespace: operatorNamespace, Name: operatorAccount}
	if err := access.WriteKubeconfigOf(ctx, admin, account, kubeconfig); err != nil {
		return err
	}
	metrics, err := program.FreeAddress()
	if err != nil {
		return err
	}
	metricsURL = "https://" + metrics + "/metrics"
	theOperator, err = program.Manager(binaries, repository, kubeconfig, filepath.Join(dir, "operator.log"),
		// This process cannot resolve the names of Services.
		"--base-domain", baseDomain, "--metrics-bind-address", metrics, "--probe-via", "apiserver")
	if err != nil {
		return err
	}
	return poll(ctx, "the operator is ready", theOperator.Ready)
}
