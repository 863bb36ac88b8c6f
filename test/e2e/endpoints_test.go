//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

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
	shortages []string
}

// watchEndpoints watches until the test ends.
func watchEndpoints(t *testing.T, darkroom *v1alpha1.Darkroom) *endpoints {
	t.Helper()
	e := &endpoints{slices: map[string]int{}}
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
	options.ResourceVersion = first.ResourceVersion
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			// The API server ends watches; the next one goes on where the last one ended.
			events, err := api.Watch(ctx, options)
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("watch endpoints: %v", err)
				}
				return
			}
			for event := range events.ResultChan() {
				slice, ok := event.Object.(*discoveryv1.EndpointSlice)
				if !ok {
					// The end of the test breaks the stream off.
					if ctx.Err() == nil {
						t.Errorf("watch endpoints: %+v", event.Object)
					}
					return
				}
				options.ResourceVersion = slice.ResourceVersion
				e.see(event.Type, slice)
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return e
}

func (e *endpoints) see(event watch.EventType, slice *discoveryv1.EndpointSlice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	count := 0
	for i := range slice.Endpoints {
		if ptr.Deref(slice.Endpoints[i].Conditions.Ready, true) {
			count++
		}
	}
	if event == watch.Deleted {
		count = 0
	}
	e.slices[slice.Name] = count
	if ready := e.ready(); ready < e.least {
		e.shortages = append(e.shortages, fmt.Sprintf("%s: %d of %d endpoints were ready", time.Now().Format("15:04:05.000"), ready, e.least))
	}
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

// mustHaveHeld fails the test if there were too few endpoints since expect.
func (e *endpoints) mustHaveHeld(t *testing.T) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, shortage := range e.shortages {
		t.Error(shortage)
	}
}
