//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// endpoints watches the ready endpoints of the Service of a Darkroom without a gap.
type endpoints struct {
	mu sync.Mutex
	// slices are the ready endpoints of each EndpointSlice.
	slices map[string]int
	// least is the number that has to be ready.
	least int
	// shortages are the moments at which fewer were.
	shortages []shortage
	// firstReady has the resourceVersion of each pod when it was ready for the first time.
	firstReady map[string]uint64
}

// shortage is an EndpointSlice with too few ready endpoints.
type shortage struct {
	text            string
	resourceVersion uint64
	// missing is how many are missing, and unready are the pods that are neither ready nor
	// ending.
	missing int
	unready []string
}

// watchEndpoints watches until the test ends.
func watchEndpoints(t *testing.T, darkroom *v1alpha1.Darkroom) *endpoints {
	t.Helper()
	e := &endpoints{slices: map[string]int{}, firstReady: map[string]uint64{}}
	options := metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + darkroom.Name}
	api := clientset.DiscoveryV1().EndpointSlices(darkroom.Namespace)
	ctx, cancel := context.WithCancel(t.Context())
	first, err := api.List(ctx, options)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	for i := range first.Items {
		e.see(watch.Added, &first.Items[i])
	}
	pods := clientset.CoreV1().Pods(darkroom.Namespace)
	var running sync.WaitGroup
	running.Go(func() {
		follow(ctx, t, pods.Watch, metav1.ListOptions{}, func(_ watch.EventType, pod *corev1.Pod) { e.seePod(pod) })
	})
	options.ResourceVersion = first.ResourceVersion
	running.Go(func() { follow(ctx, t, api.Watch, options, e.see) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return e
}

// follow passes the events of a watch on, until the context ends. The API server ends
// watches; the next one continues where the last one ended.
func follow[T metav1.Object](ctx context.Context, t *testing.T, open func(context.Context, metav1.ListOptions) (watch.Interface, error),
	options metav1.ListOptions, see func(watch.EventType, T),
) {
	t.Helper()
	for ctx.Err() == nil {
		events, err := open(ctx, options)
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("watch endpoints: %v", err)
			}
			return
		}
		for event := range events.ResultChan() {
			object, ok := event.Object.(T)
			if !ok {
				// The end of the test breaks the stream off.
				if ctx.Err() == nil {
					t.Errorf("watch endpoints: %+v", event.Object)
				}
				return
			}
			options.ResourceVersion = object.GetResourceVersion()
			see(event.Type, object)
		}
	}
}

func (e *endpoints) seePod(pod *corev1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.firstReady[pod.Name]; !known && isPodReady(pod) {
		e.firstReady[pod.Name] = versionOf(pod)
	}
}

// versionOf is the resourceVersion as a number, which is comparable among the objects of one
// etcd.
func versionOf(object metav1.Object) uint64 {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(err) // the API server's own etcd counts
	}
	return version
}

func (e *endpoints) see(event watch.EventType, slice *discoveryv1.EndpointSlice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	count := 0
	var unready []string
	for i := range slice.Endpoints {
		endpoint := &slice.Endpoints[i]
		switch {
		case ptr.Deref(endpoint.Conditions.Ready, true):
			count++
		case !ptr.Deref(endpoint.Conditions.Terminating, false) && endpoint.TargetRef != nil:
			unready = append(unready, endpoint.TargetRef.Name)
		}
	}
	if event == watch.Deleted {
		count = 0
	}
	e.slices[slice.Name] = count
	if ready := e.ready(); ready < e.least {
		e.shortages = append(e.shortages, shortage{
			text: fmt.Sprintf("%s: %d of %d endpoints were ready: %s",
				time.Now().Format("15:04:05.000"), ready, e.least, endpointsOf(slice)),
			resourceVersion: versionOf(slice),
			missing:         e.least - ready,
			unready:         unready,
		})
	}
}

// endpointsOf lists the endpoints of an EndpointSlice with their conditions.
func endpointsOf(slice *discoveryv1.EndpointSlice) string {
	var all []string
	for i := range slice.Endpoints {
		endpoint := &slice.Endpoints[i]
		name := ""
		if endpoint.TargetRef != nil {
			name = endpoint.TargetRef.Name
		}
		all = append(all, fmt.Sprintf("%s (ready %t, serving %t, terminating %t)", name, ptr.Deref(endpoint.Conditions.Ready, true),
			ptr.Deref(endpoint.Conditions.Serving, true), ptr.Deref(endpoint.Conditions.Terminating, false)))
	}
	return strings.Join(all, ", ")
}

func (e *endpoints) ready() int {
	count := 0
	for _, slice := range e.slices {
		count += slice
	}
	return count
}

// expect sets the number of endpoints that have to be ready from now on: those that are
// ready already, or those that the new spec asks for if they are fewer.
func (e *endpoints) expect(spec int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.least, e.shortages = min(spec, e.ready()), nil
}

// mustHaveHeld fails the test if there were too few endpoints since expect. A pod counts from
// the first time that it is ready until it ends: the kubelet of Kubernetes 1.37 may report it
// as not ready again for a moment, which is not the work of a controller.
func (e *endpoints) mustHaveHeld(t *testing.T) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, shortage := range e.shortages {
		for _, pod := range shortage.unready {
			if ready, found := e.firstReady[pod]; found && ready < shortage.resourceVersion {
				shortage.missing--
			}
		}
		if shortage.missing > 0 {
			t.Error(shortage.text)
		} else {
			t.Logf("a pod was ready before, and not for a moment: %s", shortage.text)
		}
	}
}
