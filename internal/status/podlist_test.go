package status

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// crowd is a namespace with many large objects created by a user.
type crowd struct {
	client.Reader

	size, bytes int
	// most is the largest requested page size.
	most int64
}

func (c *crowd) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	c.most = max(c.most, asked.Limit)
	first, _ := strconv.Atoi(asked.Continue)
	last := c.size
	if asked.Limit > 0 {
		last = min(first+int(asked.Limit), c.size)
	}
	if last < c.size {
		into.SetContinue(strconv.Itoa(last))
	}
	for i := first; i < last; i++ {
		meta := metav1.ObjectMeta{
			Name: fmt.Sprint("photos-", i), CreationTimestamp: metav1.Unix(int64(i), 0),
			Annotations: map[string]string{"large": strings.Repeat("x", c.bytes), revisionAnnotation: "7"},
		}
		switch into := into.(type) {
		case *corev1.PodList:
			pod := corev1.Pod{ObjectMeta: meta}
			pod.Spec.Containers = []corev1.Container{{
				Name: containerName, Env: []corev1.EnvVar{{Value: strings.Repeat("x", c.bytes)}},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 3000}},
			}}
			pod.Status.PodIP = "10.0.0.1"
			into.Items = append(into.Items, pod)
		case *appsv1.ReplicaSetList:
			meta.UID, meta.OwnerReferences = "last", ownedBy("Deployment", "d")
			into.Items = append(into.Items, appsv1.ReplicaSet{ObjectMeta: meta})
		}
	}
	return nil
}

func TestLargePodsAndReplicaSetsTakeLittleMemory(t *testing.T) {
	const size = 60
	c := &crowd{size: size, bytes: 1 << 20}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	pods, err := listPods(t.Context(), c, nil)
	expect.NoError(t, err)
	deployment := deployment(1)
	deployment.UID, deployment.Annotations = "d", map[string]string{revisionAnnotation: "7"}
	replicaSet, err := currentReplicaSet(t.Context(), c, deployment, nil)
	expect.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); c.most == 0 || c.most > pageSize || kept > 4<<20 {
		t.Errorf("got pages of up to %d objects, and kept %d bytes", c.most, kept)
	}
	if len(pods) != size || replicaSet != "last" {
		t.Fatalf("got %d pods and ReplicaSet %[3]q, want %[2]d pods", len(pods), size, replicaSet)
	}
	pod := pods[size-1]
	if pod.Status.PodIP == "" || pod.Spec.Containers[0].Ports[0].ContainerPort != 3000 || pod.CreationTimestamp.IsZero() {
		t.Errorf("fields needed for a diagnosis are missing: %+v", pod)
	}
	runtime.KeepAlive(pods)
}

func TestSoManyPodsAreRead(t *testing.T) {
	pods, err := listPods(t.Context(), &crowd{size: 2 * maxListed}, nil)
	if err != nil || len(pods) != maxListed {
		t.Errorf("got %d pods (%v)", len(pods), err)
	}
}
