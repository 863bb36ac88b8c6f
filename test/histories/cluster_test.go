package histories

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	// plane is nil in the cluster that histories share.
	plane *controlplane.Restorable
}

var (
	logs   logBuffer
	scheme = controller.NewScheme()
	shared *cluster
	// restorable is the cluster of histories that restore etcd, one at a time; nil before the first.
	restorable struct {
		sync.Mutex
		*cluster
	}
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(&logs), zap.JSONEncoder(), zap.Level(zapcore.DebugLevel)))
	code := controlplane.Main(m, func(administrator *rest.Config) (err error) {
		shared, err = newCluster(administrator)
		return err
	})
	if restorable.cluster != nil {
		if err := restorable.plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

func newCluster(administrator *rest.Config) (*cluster, error) {
	kube, err := client.NewWithWatch(administrator, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	asOperator, err := access.NewGuardedOperator(context.Background(), administrator, filepath.Join("..", ".."))
	return &cluster{kube: kube, administrator: administrator, asOperator: asOperator}, err
}

// clusterFor returns the cluster for a history, and a function that must be called at its end.
func clusterFor(steps []step) (c *cluster, release func(), err error) {
	isSaved, isRestored := false, false
	for _, step := range steps {
		isRestored = isRestored || isSaved && strings.Contains(step.says, restoring)
		isSaved = isSaved || strings.Contains(step.says, saving)
	}
	if !isRestored {
		return shared, func() {}, nil
	}
	restorable.Lock()
	defer func() {
		if err != nil {
			restorable.Unlock()
		}
	}()
	if restorable.cluster == nil {
		plane, err := controlplane.StartRestorable()
		if err != nil {
			return nil, nil, err
		}
		c, err := newCluster(plane.Administrator)
		if err != nil {
			return nil, nil, err
		}
		c.plane = plane
		restorable.cluster = c
	}
	return restorable.cluster, restorable.Unlock, nil
}
