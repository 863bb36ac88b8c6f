//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// restoreEtcd takes the cluster back to a snapshot of etcd: objects, and versions that are lower than those
// that the operator has seen. Then it looks whether drift is still repaired.
func restoreEtcd(t *testing.T) string {
	data := filepath.Join(os.Getenv("CLUSTER_DIR"), "data", "etcd")
	saved := filepath.Join(scratch, "etcd")
	etcd := component(t, "etcd")
	must(t, syscall.Kill(etcd, syscall.SIGSTOP)) // so that the copy is of one moment
	must(t, os.CopyFS(saved, os.DirFS(data)))
	must(t, syscall.Kill(etcd, syscall.SIGCONT))
	for range 3 {
		upgradeAll(t)
		eventually(t, "upgraded", wrong)
	}
	time.Sleep(25 * time.Second) // a backup is older than the last look of the operator
	// It is started again after a second.
	must(t, syscall.Kill(etcd, syscall.SIGKILL))
	must(t, os.Rename(data, saved+"-lost"))
	must(t, os.Rename(saved, data))
	must(t, syscall.Kill(component(t, "kube-apiserver"), syscall.SIGKILL))
	eventually(t, "the API server is back", func(ctx context.Context) error {
		return clientset.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
	// Kubernetes asks for a restart of its controllers after a restore. The operator ends by itself.
	for _, name := range []string{"kube-controller-manager", "kube-scheduler", "kwok"} {
		must(t, syscall.Kill(component(t, name), syscall.SIGKILL))
	}
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: "chaos", Name: "darkroom-0"}
	patch := mergePatch(`{"spec":{"template":{"spec":{"containers":[{"name":"darkroom","image":%q}]}}}}`,
		"example.com/another:v1")
	deployment.Namespace, deployment.Name = key.Namespace, key.Name
	eventually(t, "the image is changed", func(ctx context.Context) error { return kube.Patch(ctx, deployment, patch) })
	repaired := eventually(t, "the image is repaired", func(ctx context.Context) error {
		if err := kube.Get(ctx, key, deployment); err != nil {
			return err
		}
		if image := deployment.Spec.Template.Spec.Containers[0].Image; image == "example.com/another:v1" {
			return fmt.Errorf("the image is %s", image)
		}
		return nil
	})
	return fmt.Sprintf("versions went back; drift was repaired after %s", repaired.Round(100*time.Millisecond))
}
