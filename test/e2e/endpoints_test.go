//go:build e2e

package e2e

import (
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

// endpoints watches the endpoints of the Service of a Darkroom, which are in one EndpointSlice.
// An informer reports every change, in its order.
type endpoints struct {
	service string

	mu sync.Mutex
	// states are the states of the EndpointSlice since expect, plus the last one before it.
	states []*discoveryv1.EndpointSlice
	// least is the number of endpoints that must be ready.
	least int
	// firstReady is the resourceVersion at which each pod was ready for the first time.
	firstReady map[string]uint64
}

// watchEndpoints watches until the test ends.
func watchEndpoints(t *testing.T, darkroom *v1alpha1.Darkroom) *endpoints {
	t.Helper()
	e := &endpoints{service: darkroom.Name, firstReady: map[string]uint64{}}
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(darkroom.Namespace))
	var synced []cache.InformerSynced
	for _, informer := range []cache.SharedIndexInformer{
		factory.Core().V1().Pods().Informer(),
		factory.Discovery().V1().EndpointSlices().Informer(),
	} {
		handler := cache.ResourceEventHandlerFuncs{AddFunc: e.see, UpdateFunc: func(_, object any) { e.see(object) }}
		registration, err := informer.AddEventHandler(handler)
		must(t, err)
		synced = append(synced, registration.HasSynced)
	}
	factory.Start(t.Context().Done())
	cache.WaitForCacheSync(t.Context().Done(), synced...)
	t.Cleanup(factory.Shutdown)
	return e
}

func (e *endpoints) see(object any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch object := object.(type) {
	case *corev1.Pod:
		if e.firstReady[object.Name] == 0 && images.IsReady(object) {
			e.firstReady[object.Name] = versionOf(object)
		}
	case *discoveryv1.EndpointSlice:
		if object.Labels[discoveryv1.LabelServiceName] == e.service {
			e.states = append(e.states, object)
		}
	}
}

// versionOf returns the resourceVersion as a number. Numbers are comparable within one etcd.
func versionOf(object metav1.Object) uint64 {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(err) // the API server's own etcd counts
	}
	return version
}

// ready counts the ready endpoints. A pod counts from the first time that it is ready until it ends, because the
// kubelet of Kubernetes 1.37 may briefly report it as not ready again. That is not caused by a controller.
func (e *endpoints) ready(slice *discoveryv1.EndpointSlice) int {
	count := 0
	for _, endpoint := range slice.Endpoints {
		first, wasReady := e.firstReady[ptr.Deref(endpoint.TargetRef, corev1.ObjectReference{}).Name]
		wasReady = wasReady && first < versionOf(slice) && !ptr.Deref(endpoint.Conditions.Terminating, false)
		if ptr.Deref(endpoint.Conditions.Ready, true) || wasReady {
			count++
		}
	}
	return count
}

// expect sets the number of endpoints that must be ready from now on: the currently ready ones, or the number in the
// new spec if it is lower.
func (e *endpoints) expect(spec int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.states = e.states[len(e.states)-1:]
	e.least = min(spec, e.ready(e.states[0]))
}

// mustHaveHeld fails the test if there were too few endpoints since expect.
func (e *endpoints) mustHaveHeld(t *testing.T) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, slice := range e.states {
		if ready := e.ready(slice); ready < e.least {
			t.Errorf("%d of %d endpoints were ready: %+v", ready, e.least, slice.Endpoints)
		}
	}
}
