//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

// baseDomain is appended to each sub-domain by the operator under test.
const baseDomain = "darkroom.localhost"

// parallelTests is the number of parallel tests that run at one time.
const parallelTests = 4

// Set up once by TestMain and shared by all tests.
var (
	// repository is the absolute path of the repository.
	repository string
	// binaries is the absolute path of the folder with the built programs.
	binaries string
	// ingressURL is where the ingress controller listens.
	ingressURL string
	// gatewayURL is where the Gateways listen.
	gatewayURL string

	// admin may do everything in the cluster.
	admin     *rest.Config
	kube      client.Client
	clientset *kubernetes.Clientset

	// theOperator is the one operator of the cluster.
	theOperator *operator
	// theSources serve images.
	theSources sources
)

func TestMain(m *testing.M) {
	flag.Parse()
	if !isSet("test.parallel") {
		// Parallel tests wait most of the time, so there can be more than processors.
		_ = flag.Set("test.parallel", strconv.Itoa(parallelTests))
	}
	os.Exit(run(m))
}

// isSet reports whether a flag was given.
func isSet(name string) bool {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// run returns the exit code. Deferred calls stop all processes; a test binary that is killed
// takes the operator with it.
func run(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "darkroom-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the operator's log:", err)
		return 1
	}
	defer os.RemoveAll(dir)

	ctx, cancel := context.WithTimeout(context.Background(), 2*waitTimeout)
	defer cancel()
	started := time.Now()
	err = setUp(ctx, dir)
	defer func() {
		if theOperator == nil {
			return
		}
		if err := theOperator.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		if code != 0 {
			fmt.Fprintf(os.Stderr, "the operator's log:\n%s\n", theOperator.logTail(400))
		}
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "set up:", err)
		return 1
	}
	fmt.Printf("set up in %s: operator as %s, images at %s and %s\n",
		time.Since(started).Round(time.Millisecond), operatorAccount, theSources.folderURL, theSources.bucketURL)

	return m.Run()
}

// setUp prepares the cluster and starts the operator, which logs to dir.
func setUp(ctx context.Context, dir string) error {
	if err := readEnvironment(); err != nil {
		return err
	}
	if err := connect(); err != nil {
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
	kubeconfig, err := operatorKubeconfig(ctx, dir)
	if err != nil {
		return err
	}
	theOperator, err = newOperator(kubeconfig, filepath.Join(dir, "operator.log"))
	if err != nil {
		return err
	}
	if err := theOperator.start(ctx); err != nil {
		return err
	}
	if err := clearLeftovers(ctx); err != nil {
		return err
	}
	theSources, err = startSources(ctx)
	return err
}

// clearLeftovers deletes the Darkrooms of a run that was killed, in a cluster that
// was kept: the idle test counts what the operator does for all of them.
func clearLeftovers(ctx context.Context) error {
	left := &v1alpha1.DarkroomList{}
	if err := kube.List(ctx, left); err != nil {
		return fmt.Errorf("look for Darkrooms of an earlier run: %w", err)
	}
	for _, darkroom := range left.Items {
		if err := empty(ctx, darkroom.Namespace); err != nil {
			return err
		}
	}
	return nil
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
	if !filepath.IsAbs(binaries) {
		binaries = filepath.Join(repository, binaries)
	}
	return nil
}

// connect makes the clients of the cluster's administrator.
func connect() error {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	var err error
	if admin, err = access.Administrator(); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(gatewayv1.Install(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	if kube, err = client.New(admin, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if clientset, err = kubernetes.NewForConfig(admin); err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	return nil
}
