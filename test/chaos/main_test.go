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
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// Names in config/default.
const (
	operatorNamespace = "darkroom-system"
	operatorAccount   = "darkroom-operator-controller-manager"
)

const (
	// waitTimeout is the maximum time for the operator to recover from a fault.
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
	seed := 20260101
	if given, err := strconv.Atoi(os.Getenv("CHAOS_SEED")); err == nil {
		seed = given
	}
	fmt.Printf("seed %d\n", seed)
	random = rand.New(rand.NewPCG(uint64(seed), 0))
	admin, err := access.Administrator()
	if err != nil {
		return err
	}
	if kube, clientset, err = access.Clients(admin); err != nil {
		return err
	}
	// The Deployment's pod is only simulated. The processes of the tests use its permissions.
	ctx := context.Background()
	_, err = program.Output(ctx, "kubectl", "apply", "--server-side", "--force-conflicts", "-k",
		filepath.Join(repository, "config", "default"))
	if err != nil {
		return err
	}
	account := client.ObjectKey{Namespace: operatorNamespace, Name: operatorAccount}
	return access.WriteKubeconfigOf(ctx, admin, account, filepath.Join(scratch, "kubeconfig"))
}

// component returns the process ID of one of the cluster's programs.
func component(t *testing.T, name string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(os.Getenv("CLUSTER_DIR"), "cluster.json"))
	must(t, err)
	var state struct {
		Components []struct {
			Name string
			PID  int
		}
	}
	must(t, json.Unmarshal(raw, &state))
	for _, component := range state.Components {
		if component.Name == name {
			return component.PID
		}
	}
	t.Fatalf("%s is not one of the cluster's programs: %s", name, raw)
	return 0
}

// eventually waits until a check returns no error, and returns the duration.
func eventually(t *testing.T, what string, check func(context.Context) error) time.Duration {
	t.Helper()
	began := time.Now()
	if err := (wait.Limits{Timeout: waitTimeout, Period: pollPeriod}).Until(t.Context(), what, check); err != nil {
		t.Fatalf("%v\n%s", err, logTail())
	}
	return time.Since(began)
}

// manager starts the operator of a folder; it reconciles each Darkroom every ten seconds.
func manager(t *testing.T, binaries, repository, name string, flags ...string) *program.Program {
	t.Helper()
	flags = append([]string{"--metrics-bind-address", "0", "--reconcile-period", "10s"}, flags...)
	o, err := program.Manager(binaries, repository, filepath.Join(scratch, "kubeconfig"),
		filepath.Join(scratch, name+".log"), flags...)
	must(t, err)
	return o
}

// launch starts the operator under test.
func launch(t *testing.T, name string, flags ...string) *program.Program {
	t.Helper()
	return manager(t, binaries, repository, name, flags...)
}

// start starts the operator and waits until it is ready.
func start(t *testing.T, name string, flags ...string) *program.Program {
	t.Helper()
	o := launch(t, name, flags...)
	eventually(t, name+" is ready", o.Ready)
	return o
}

func end(t *testing.T, o *program.Program, signal syscall.Signal) {
	t.Helper()
	if err := o.End(signal); err != nil {
		t.Error(err)
	}
}

func logTail() string {
	files, _ := filepath.Glob(filepath.Join(scratch, "*.log"))
	out, _ := exec.Command("tail", append([]string{"--lines=40"}, files...)...).CombinedOutput() // why not is in it
	return string(out)
}

// moment waits for a random time. The time is part of a fault; no condition is waited for.
func moment(longest time.Duration) { time.Sleep(time.Duration(random.Int64N(int64(longest)))) }

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
