//go:build e2e

package olm

import (
	"context"
	"fmt"
	"os"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// Set up once by TestMain and shared by all tests.
var (
	// binaries is the folder with the built programs of the project.
	binaries string
	// ingressURL is the URL of the ingress controller.
	ingressURL string
	// nodeIP is the node's address, which pods and this process can reach.
	nodeIP string

	kube client.Client

	// imageURL is the URL of a web folder with images.
	imageURL string
)

func TestMain(m *testing.M) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*limits.Timeout)
	err := setUp(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "set up:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func setUp(ctx context.Context) error {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	binaries, ingressURL = os.Getenv("BIN_DIR"), os.Getenv("INGRESS_URL")
	for _, name := range []string{"KUBECONFIG", "INGRESS_URL", "CLUSTER_DIR", "BIN_DIR", "RELEASE"} {
		if os.Getenv(name) == "" {
			return fmt.Errorf("%s is not set: run `make e2e-olm`", name)
		}
	}
	address, err := program.Output(ctx, "kubectl", "get", "nodes",
		`--output=jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}`)
	if err != nil {
		return err
	}
	nodeIP = string(address)
	admin, err := access.Administrator()
	if err != nil {
		return err
	}
	if kube, _, err = access.Clients(admin, operatorsv1.AddToScheme, operatorsv1alpha1.AddToScheme); err != nil {
		return err
	}
	if err := readVersions(); err != nil {
		return err
	}
	if err := loadImages(ctx); err != nil {
		return err
	}
	imageURL, err = startImages(ctx)
	return err
}
