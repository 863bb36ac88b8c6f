//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// contender is the field manager of a controller that contests an object.
const contender = "contending-controller"

// contest is another controller's part in a contest about one object.
type contest struct {
	stop func()

	mu sync.Mutex
	// own are the resourceVersions that the controller wrote; all are those that it saw.
	own, all map[string]bool
}

// count is the number of writes of the controller so far.
func (c *contest) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.own)
}

// changes is the number of changes that others made.
func (c *contest) changes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := 0
	for version := range c.all {
		if !c.own[version] {
			count++
		}
	}
	return count
}

// react starts a controller that answers each change of an object by a patch, until it
// is stopped or the test ends. A nil patch leaves the object as it is.
func react[T client.Object](t *testing.T, object T, patch func(T) client.Patch) *contest {
	t.Helper()
	watching, err := client.NewWithWatch(mustAdministrator(t), client.Options{Scheme: kube.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	list, err := listOf(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	events, err := watching.Watch(ctx, list, client.InNamespace(object.GetNamespace()), &client.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", object.GetName()),
		Raw:           &metav1.ListOptions{ResourceVersion: object.GetResourceVersion()},
	})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	c := &contest{own: map[string]bool{}, all: map[string]bool{}}
	respond := func(live T) {
		answer := patch(live)
		if answer == nil {
			return
		}
		before := live.GetResourceVersion()
		options := []client.PatchOption{client.FieldOwner(contender)}
		if answer.Type() == "application/apply-patch+yaml" {
			options = append(options, client.ForceOwnership)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if err := kube.Patch(ctx, live, answer, options...); tolerate(err) != nil && ctx.Err() == nil {
			t.Errorf("contest: %v", err)
		} else if err == nil && live.GetResourceVersion() != before {
			c.own[live.GetResourceVersion()] = true
		}
	}
	var running sync.WaitGroup
	running.Go(func() {
		respond(object)
		for event := range events.ResultChan() {
			live, ok := event.Object.(T)
			if !ok || event.Type == watch.Deleted {
				continue
			}
			c.mu.Lock()
			c.all[live.GetResourceVersion()] = true
			c.mu.Unlock()
			respond(live)
		}
	})
	c.stop = sync.OnceFunc(func() {
		cancel()
		events.Stop()
		running.Wait()
	})
	t.Cleanup(c.stop)
	return c
}

func listOf(object client.Object) (client.ObjectList, error) {
	t, err := thingOf(object)
	if err != nil {
		return nil, err
	}
	empty, err := kube.Scheme().New(t.kind.GroupVersion().WithKind(t.kind.Kind + "List"))
	if err != nil {
		return nil, err
	}
	list, ok := empty.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is not a list", empty)
	}
	return list, nil
}

// countChanges fails the test if an object is changed by others than the contender more
// often than a limit within fightPeriod.
func countChanges(t *testing.T, w *witness, object client.Object, started time.Time, others *contest, limit int) {
	t.Helper()
	time.Sleep(time.Until(started.Add(fightPeriod))) // the length of the measurement
	changes := others.changes()
	t.Logf("within %s: %d changes by the operator, %d by the other controller", time.Since(started).Round(time.Second), changes, others.count())
	if changes > limit {
		t.Errorf("%s %s was changed %d times within %s, at most %d: the operator fights", object.GetObjectKind().GroupVersionKind().Kind,
			object.GetName(), changes, fightPeriod, limit)
	}
	requests := 0
	for _, write := range w.since(started) {
		if write.of(resourceOf(t, object), client.ObjectKeyFromObject(object)) {
			requests++
		}
	}
	if requests > limit+1 {
		t.Errorf("the operator sent %d writes to %s, at most %d", requests, object.GetName(), limit+1)
	}
}

func resourceOf(t *testing.T, object client.Object) string {
	t.Helper()
	named, err := thingOf(object)
	if err != nil {
		t.Fatal(err)
	}
	return named.resource()
}
