package histories

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
)

// cluster is the cluster in which histories run.
type cluster struct {
	kube          client.WithWatch
	administrator *rest.Config
	// asOperator is the identity of operators, which the guard restricts and policies can deny.
	asOperator *rest.Config
	stop       func() error
}

var (
	logs   logBuffer
	scheme = controller.NewScheme()
	// shared is the cluster of all histories. Several run at the same time, because starting an API server takes
	// seconds of CPU time.
	shared *cluster
)

func TestMain(m *testing.M) {
	// Garbage collection would take a sixth of the CPU time, most of it in the API server and etcd, which inherit this
	// setting.
	_ = os.Setenv("GOGC", "400")
	debug.SetGCPercent(400)
	ctrl.SetLogger(zap.New(zap.WriteTo(&logs), zap.JSONEncoder(), zap.Level(zapcore.DebugLevel)))
	if !controlplane.Available() {
		fmt.Println("skipped:", controlplane.Missing)
		return
	}
	os.Exit(inCluster(m.Run))
}

// inCluster runs the tests in a cluster, and returns the exit code.
func inCluster(run func() int) (code int) {
	err := start()
	if err == nil {
		code = run()
	}
	if shared != nil {
		err = errors.Join(err, shared.stop())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// start starts the cluster.
func start() error {
	administrator, stop, err := controlplane.Start()
	if err != nil {
		return err
	}
	shared = &cluster{administrator: administrator, stop: stop}
	if shared.kube, err = client.NewWithWatch(administrator, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	shared.asOperator, err = access.NewGuardedOperator(context.Background(), administrator, filepath.Join("..", ".."))
	return err
}
