//go:build e2e

package olm

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

// Set up once by TestMain and shared by all tests.
var (
	// binaries is the folder with the built programs of the project.
	binaries string
	// ingressURL is where the ingress controller listens.
	ingressURL string
	// nodeIP is the node's address, which pods and this process reach.
	nodeIP string

	kube      client.Client
	clientset *kubernetes.Clientset

	// images is the URL of a web folder with images.
	images string
)

func TestMain(m *testing.M) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitTimeout)
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
	if err := readNode(); err != nil {
		return err
	}
	if err := connect(); err != nil {
		return err
	}
	if err := readVersions(); err != nil {
		return err
	}
	if err := loadImages(ctx); err != nil {
		return err
	}
	var err error
	images, err = startImages(ctx)
	return err
}

func readNode() error {
	text, err := os.ReadFile(filepath.Join(os.Getenv("CLUSTER_DIR"), "cluster.json"))
	if err != nil {
		return fmt.Errorf("read the cluster's state: %w", err)
	}
	var state struct {
		NodeIP string `json:"nodeIP"`
	}
	if err := json.Unmarshal(text, &state); err != nil || state.NodeIP == "" {
		return fmt.Errorf("the cluster has no nodeIP: is its node real? (%w)", err)
	}
	nodeIP = state.NodeIP
	return nil
}

// connect makes the clients of the cluster's administrator.
func connect() error {
	admin, err := access.Administrator()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, operatorsv1.AddToScheme, operatorsv1alpha1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	if kube, err = client.New(admin, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if clientset, err = kubernetes.NewForConfig(admin); err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	return nil
}
