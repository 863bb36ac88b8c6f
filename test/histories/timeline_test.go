package histories

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// timeline is the order in which the API server changed Darkrooms and routes. It also records which changes to routes
// were made by operators.
type timeline struct {
	cancel    context.CancelFunc
	following sync.WaitGroup

	mu     sync.Mutex
	events []event
	// byOperators are the versions of routes written by operators, and the UIDs of routes deleted by operators.
	byOperators map[string]bool
	// earlier are the requests of stopped operators.
	earlier count
	// statuses are the writes of statuses by operators.
	statuses []statusWrite
}

// event is a change of an object; for a deletion it contains the last state.
type event struct {
	version uint64
	at      time.Time
	deleted bool
	object  client.Object
}

// follow follows the Darkrooms and routes of the history.
func (w *world) follow() error {
	t := w.timeline
	ctx, cancel := context.WithCancel(w.ctx)
	t.cancel = cancel
	for _, namespace := range w.namespaces() {
		for _, list := range []client.ObjectList{
			&v1alpha1.DarkroomList{}, &networkingv1.IngressList{},
			&gatewayv1.HTTPRouteList{},
		} {
			watcher, err := w.kube.Watch(ctx, list, client.InNamespace(namespace))
			if err != nil {
				cancel()
				return err
			}
			t.following.Go(func() { w.record(ctx, namespace, list, watcher) })
		}
	}
	return nil
}

// record records the events of a watch, and restarts the watch when the API server ends it.
func (w *world) record(ctx context.Context, namespace string, kind client.ObjectList, watcher watch.Interface) {
	for watcher != nil {
		w.timeline.append(watcher)
		again := wait.Limits{Timeout: patience, Period: restPeriod / 5}.Until(ctx, "the watch continues",
			func(ctx context.Context) (err error) {
				watcher, err = w.resume(ctx, namespace, kind.DeepCopyObject().(client.ObjectList))
				return err
			})
		if again != nil {
			return
		}
	}
}

// resume records the current objects of a kind and watches from there.
func (w *world) resume(ctx context.Context, namespace string, now client.ObjectList) (watch.Interface, error) {
	if err := w.kube.List(ctx, now, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(now)
	if err != nil {
		return nil, err
	}
	var living []client.Object
	for _, item := range items {
		living = append(living, item.(client.Object))
	}
	w.timeline.relisted(namespace, now, living)
	return w.kube.Watch(ctx, now, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: now.GetResourceVersion()}})
}

// relisted records which objects of a kind exist in a namespace. All others are recorded as gone.
func (t *timeline) relisted(namespace string, list client.ObjectList, living []client.Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	gone := map[types.UID]event{}
	for _, e := range t.events {
		if e.object.GetNamespace() == namespace && fmt.Sprintf("%TList", e.object) == fmt.Sprintf("%T", list) {
			gone[e.object.GetUID()] = e
		}
	}
	for _, object := range living {
		delete(gone, object.GetUID())
		t.events = append(t.events, event{versionOf(object), time.Now(), false, object})
	}
	for _, last := range gone {
		if !last.deleted {
			t.events = append(t.events, event{versionOf(list), time.Now(), true, last.object})
		}
	}
}

func versionOf(object interface{ GetResourceVersion() string }) uint64 {
	version, _ := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	return version
}

// end ends the recording.
func (t *timeline) end() {
	t.cancel()
	t.following.Wait()
}

// all returns the events so far.
func (t *timeline) all() []event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.events)
}

func (t *timeline) append(watcher watch.Interface) {
	defer watcher.Stop()
	for change := range watcher.ResultChan() {
		object, ok := change.Object.(client.Object)
		if !ok {
			continue
		}
		t.mu.Lock()
		t.events = append(t.events, event{versionOf(object), time.Now(), change.Type == watch.Deleted, object})
		t.mu.Unlock()
	}
}

// note records a write of a route or a status by a process of the operator, the time at which it was sent, and the time
// since which all watches of the process were open.
func (t *timeline) note(r *http.Request, by *traffic, at, told time.Time, response *http.Response) error {
	isRoute := strings.Contains(r.URL.Path, "/ingresses/") || strings.Contains(r.URL.Path, "/httproutes/")
	isStatus := strings.Contains(r.URL.Path, "/darkrooms/") && strings.HasSuffix(r.URL.Path, "/status")
	if !isRoute && !isStatus || r.Method == http.MethodGet || response.StatusCode >= 300 {
		return nil
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	var written struct {
		Metadata struct{ Namespace, Name, ResourceVersion, UID string }
		Details  struct{ UID string }
	}
	if json.Unmarshal(body, &written) != nil {
		return nil // encoded in a different way
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if isStatus {
		key := types.NamespacedName{Namespace: written.Metadata.Namespace, Name: written.Metadata.Name}
		t.statuses = append(t.statuses, statusWrite{at, key, written.Metadata.ResourceVersion, by, told})
		return nil
	}
	if r.Method == http.MethodDelete {
		t.byOperators[cmp.Or(written.Details.UID, written.Metadata.UID)] = true
	} else {
		t.byOperators[written.Metadata.ResourceVersion] = true
	}
	return nil
}

func (t *timeline) add(more count) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.earlier = t.earlier.plus(more)
}

func (t *timeline) statusWrites() []statusWrite {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.statuses
}

func (t *timeline) stopped() count {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.earlier
}

// sorted returns the events so far, in the order of the API server, and the writes of operators.
func (t *timeline) sorted() ([]event, map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	events := slices.Clone(t.events)
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.version, b.version) })
	return events, maps.Clone(t.byOperators)
}

// routedHosts returns the hosts of a route.
func routedHosts(object client.Object) []string { return gateway.Hosts(object) }
