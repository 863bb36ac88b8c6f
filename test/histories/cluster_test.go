package histories

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
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

// cluster is where histories happen.
type cluster struct {
	kube          client.WithWatch
	administrator *rest.Config
	// asOperator is the identity of operators, which the guard limits and policies can deny.
	asOperator *rest.Config
	plane      *controlplane.Restorable
}

var (
	logs   logBuffer
	scheme = controller.NewScheme()
	// shared is where most histories happen, several at a time. Those that restore etcd are alone in
	// their cluster, which is this one too for the few of `make test`: an API server takes seconds of CPU to start.
	shared, own place
)

// place is a cluster, if it was started, and who is there.
type place struct {
	sync.RWMutex
	*cluster
}

func TestMain(m *testing.M) {
	// Garbage collection would take a sixth of the CPU time, most of it in the API server and etcd, which inherit this.
	_ = os.Setenv("GOGC", "400")
	debug.SetGCPercent(400)
	ctrl.SetLogger(zap.New(zap.WriteTo(&logs), zap.JSONEncoder(), zap.Level(zapcore.DebugLevel)))
	if !controlplane.Available() {
		fmt.Println("skipped:", controlplane.Missing)
		return
	}
	err := shared.start()
	code := 1
	if err == nil {
		code = m.Run()
	}
	if err = errors.Join(err, shared.stop(), own.stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// start starts the cluster.
func (p *place) start() error {
	plane, err := controlplane.StartRestorable()
	if err != nil {
		return err
	}
	p.cluster = &cluster{administrator: plane.Administrator, plane: plane}
	if p.kube, err = client.NewWithWatch(plane.Administrator, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	p.asOperator, err = access.NewGuardedOperator(context.Background(), plane.Administrator, filepath.Join("..", ".."))
	return err
}

func (p *place) stop() error {
	if p.cluster == nil {
		return nil
	}
	return p.plane.Stop()
}

// isAlone reports whether no other history may happen in the cluster of a history.
func isAlone(steps []step) (isAlone bool) {
	isSaved := false
	for _, step := range steps {
		isAlone = isAlone || isSaved && strings.Contains(step.says, restoring)
		isSaved = isSaved || strings.Contains(step.says, saving)
	}
	return isAlone
}

// clusterFor returns the cluster for a history, and a function that must be called at its end.
func clusterFor(steps []step) (c *cluster, release func(), err error) {
	if !isAlone(steps) {
		shared.RLock()
		return shared.cluster, shared.RUnlock, nil
	}
	where := &own
	if isFixed {
		where = &shared
	}
	where.Lock()
	if where.cluster == nil {
		if err := where.start(); err != nil {
			where.Unlock()
			return nil, nil, err
		}
	}
	return where.cluster, where.Unlock, nil
}
