//go:build e2e

package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

// endpoints watches the ready endpoints of the Service of a Darkroom. An informer reports every
// change, in its order.
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
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(darkroom.Namespace))
	for informer, see := range map[cache.SharedIndexInformer]func(any){
		factory.Core().V1().Pods().Informer():                e.seePod,
		factory.Discovery().V1().EndpointSlices().Informer(): e.seeSlice,
	} {
		_, err := informer.AddEventHandler(cache.FilteringResourceEventHandler{
			FilterFunc: func(object any) bool {
				slice, isSlice := object.(*discoveryv1.EndpointSlice)
				return !isSlice || slice.Labels[discoveryv1.LabelServiceName] == darkroom.Name
			},
			Handler: cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, object any) { see(object) }, DeleteFunc: func(object any) {
				if slice, isSlice := object.(*discoveryv1.EndpointSlice); isSlice {
					see(&discoveryv1.EndpointSlice{ObjectMeta: slice.ObjectMeta})
				}
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	return e
}

func (e *endpoints) seePod(object any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if pod, ok := object.(*corev1.Pod); ok && e.firstReady[pod.Name] == 0 && images.IsReady(pod) {
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

func (e *endpoints) seeSlice(object any) {
	slice, ok := object.(*discoveryv1.EndpointSlice)
	if !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	count := 0
	var unready, all []string
	for i := range slice.Endpoints {
		conditions, name := slice.Endpoints[i].Conditions, ptr.Deref(slice.Endpoints[i].TargetRef, corev1.ObjectReference{}).Name
		ready, terminating := ptr.Deref(conditions.Ready, true), ptr.Deref(conditions.Terminating, false)
		switch {
		case ready:
			count++
		case !terminating:
			unready = append(unready, name)
		}
		all = append(all, fmt.Sprintf("%s (ready %t, terminating %t)", name, ready, terminating))
	}
	e.slices[slice.Name] = count
	if ready := e.ready(); ready < e.least {
		e.shortages = append(e.shortages, shortage{
			text: fmt.Sprintf("%s: %d of %d endpoints were ready: %s",
				time.Now().Format("15:04:05.000"), ready, e.least, strings.Join(all, ", ")),
			resourceVersion: versionOf(slice),
			missing:         e.least - ready,
			unready:         unready,
		})
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
