package release

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
)

// refusing is an API server that rejects applies of some kinds, and records other writes and events.
type refusing struct {
	client.Client

	kinds  []string
	mu     sync.Mutex
	writes []string
}

func (r *refusing) note(write string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, write)
}

func (r *refusing) Apply(_ context.Context, object runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	kind := object.(interface{ GetKind() string }).GetKind()
	if slices.Contains(r.kinds, kind) {
		return apierrors.NewForbidden(schema.GroupResource{}, kind, nil)
	}
	r.note("apply " + kind)
	return nil
}

func (r *refusing) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	r.note("delete " + object.GetObjectKind().GroupVersionKind().Kind)
	return nil
}

func (r *refusing) Event(_ *v1alpha1.Darkroom, _ bool, reason, _ string) { r.note("event " + reason) }

// objectOf returns a rendered object named photos.
func objectOf(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace("shop")
	object.SetName("photos")
	return object
}

// The object may need an object that is pruned. For example, a user may have pointed an Ingress at an earlier Service.
func TestNothingIsDeletedWhileAnObjectCannotBeRestored(t *testing.T) {
	for name, test := range map[string]struct{ refused, want []string }{
		"all can": {
			want: []string{"apply Service", "apply ConfigMap", "delete HorizontalPodAutoscaler", "event Repaired"},
		},
		"one can":  {refused: []string{"Service"}, want: []string{"apply ConfigMap", "event Repaired"}},
		"none can": {refused: []string{"Service", "ConfigMap"}},
	} {
		server := &refusing{kinds: test.refused}
		c := clientWith(cached{autoscalers: {metadata("old", nil)}})
		c.Client, c.Metrics, c.Recorder = server, metrics.New(nil, "", ""), server
		objects := []*unstructured.Unstructured{objectOf(services), objectOf(configMaps)}
		c.rendering = &rendering{release: &helmrelease.Release{}, objects: objects}
		c.memory.objects.Desire(objects)
		err := c.Reconcile(nil)
		if apierrors.IsForbidden(err) != (test.refused != nil) || !slices.Equal(server.writes, test.want) {
			t.Errorf("%s: got %q, want %q (%v)", name, server.writes, test.want, err)
		}
	}
}

func TestContestsAreDescribed(t *testing.T) {
	message := ContestMessage(drift.Hold{
		Object: keyOf(services, "photos"), Writer: "rival",
		Repairs: 4, Until: time.Unix(0, 0),
	})
	for _, part := range []string{"Service photos", `"rival"`, "4 times", "00:00:00 UTC"} {
		if !strings.Contains(message, part) {
			t.Errorf("%q lacks %q", message, part)
		}
	}
}
