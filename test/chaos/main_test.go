//go:build chaos

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

const (
	// waitTimeout is how long the operator may take to recover from a fault.
	waitTimeout = 3 * time.Minute
	pollPeriod  = 200 * time.Millisecond
)

var (
	kube      client.Client
	clientset *kubernetes.Clientset
	random    *rand.Rand

	repository, binaries, scratch string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "darkroom-chaos-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	if err := setUp(); err != nil {
		fmt.Fprintln(os.Stderr, "set up:", err)
		return 1
	}
	defer killAll()
	return m.Run()
}

func setUp() error {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	for _, name := range []string{"KUBECONFIG", "CLUSTER_DIR", "BIN_DIR"} {
		if os.Getenv(name) == "" {
			return fmt.Errorf("%s is not set: run `make chaos`", name)
		}
	}
	binaries = os.Getenv("BIN_DIR")
	var err error
	if repository, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		return err
	}
	seed := number("CHAOS_SEED", 20260101)
	fmt.Printf("seed %d\n", seed)
	random = rand.New(rand.NewPCG(uint64(seed), 0))
	admin, err := access.Administrator()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	if kube, err = client.New(admin, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if clientset, err = kubernetes.NewForConfig(admin); err != nil {
		return err
	}
	// The Deployment's pod is simulated and does nothing: the processes of the tests
	// have its rights.
	if err := kubectl("apply", "--server-side", "--force-conflicts", "-k", filepath.Join(repository, "config", "default")); err != nil {
		return err
	}
	account := client.ObjectKey{Namespace: operatorNamespace, Name: operatorAccount}
	return access.WriteKubeconfigOf(context.Background(), admin, account, filepath.Join(scratch, "kubeconfig"))
}

func number(name string, otherwise int) int {
	if parsed, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return parsed
	}
	return otherwise
}

func kubectl(args ...string) error {
	command := exec.Command("kubectl", args...)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// component returns the process id of one of the cluster's programs.
func component(name string) (int, error) {
	raw, err := os.ReadFile(filepath.Join(os.Getenv("CLUSTER_DIR"), "cluster.json"))
	if err != nil {
		return 0, err
	}
	var state struct {
		Components []struct {
			Name string `json:"name"`
			PID  int    `json:"pid"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return 0, err
	}
	for _, component := range state.Components {
		if component.Name == name {
			return component.PID, nil
		}
	}
	return 0, fmt.Errorf("%s is none of the cluster's programs: %s", name, raw)
}

func signal(t *testing.T, name string, signal syscall.Signal) {
	t.Helper()
	pid, err := component(name)
	if err == nil {
		err = syscall.Kill(pid, signal)
	}
	if err != nil {
		t.Fatalf("signal %s: %v", name, err)
	}
}

// eventually waits until a check finds nothing wrong, and returns for how long.
func eventually(t *testing.T, what string, check func(context.Context) error) time.Duration {
	t.Helper()
	began := time.Now()
	if err := (wait.Limits{Timeout: waitTimeout, Period: pollPeriod}).Until(t.Context(), what, check); err != nil {
		t.Fatalf("%v\n%s", err, logTail())
	}
	return time.Since(began)
}

// moment lets a random time pass. It is part of a fault; nothing is waited for.
func moment(longest time.Duration) { time.Sleep(time.Duration(random.Int64N(int64(longest)))) }
