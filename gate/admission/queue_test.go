package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

func TestWorkIsAdmittedUpToTheCapacity(t *testing.T) {
	q := New(10, 5)
	first, _ := q.Acquire(t.Context(), "a", 6)
	second, _ := q.Acquire(t.Context(), "a", 4)
	if used, waiting := q.Load(); used != 10 || waiting != 0 {
		t.Errorf("%d used, %d waiting", used, waiting)
	}
	first(1)
	if used, _ := q.Load(); used != 5 {
		t.Errorf("%d used after a part was given back", used)
	}
	first(0)
	first(0)
	second(0)
	if used, _ := q.Load(); used != 0 {
		t.Errorf("%d used after release", used)
	}
}

func TestWorkHeavierThanTheCapacityRunsAlone(t *testing.T) {
	q := New(10, 5)
	release, err := q.Acquire(t.Context(), "a", 100)
	if used, _ := q.Load(); err != nil || used != 10 {
		t.Errorf("%d used: %v", used, err)
	}
	release(0)
}

// occupy fills a queue and enqueues one waiter after the other; it returns the order in
// which they are admitted once the queue is released.
func order(t *testing.T, q *Queue, clients ...string) []string {
	t.Helper()
	var admitted []string
	synctest.Test(t, func(t *testing.T) {
		release, err := q.Acquire(t.Context(), "", q.capacity)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		for i, client := range clients {
			go func() {
				done, err := q.Acquire(t.Context(), client, q.capacity)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					admitted = append(admitted, "refused "+client)
					return
				}
				admitted = append(admitted, fmt.Sprintf("%s%d", client, i))
				done(0)
			}()
			synctest.Wait()
		}
		release(0)
		synctest.Wait()
	})
	return admitted
}

func TestClientsTakeTurns(t *testing.T) {
	want := []string{"a0", "b3", "c5", "a1", "b4", "a2"}
	if got := order(t, New(1, 10), "a", "a", "a", "b", "b", "c"); !slices.Equal(got, want) {
		t.Errorf("admitted %v, want %v", got, want)
	}
}

func TestAFullQueueMakesPlaceForClientsWithFewerWaiters(t *testing.T) {
	got := order(t, New(1, 3), "a", "a", "a", "a", "b")
	if want := []string{"refused a", "refused a", "a0", "b4", "a1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestARefusalIs503WithRetryAfter(t *testing.T) {
	q := New(1, 0)
	release, _ := q.Acquire(t.Context(), "a", 1)
	defer release(0)
	_, err := q.Acquire(t.Context(), "b", 1)
	if p := problem.Of(err); p.Status != 503 || p.RetryAfter == 0 {
		t.Errorf("%+v", p)
	}
}

func TestNobodyWaitsLongerThanClientsDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(1, 10)
		release, _ := q.Acquire(t.Context(), "a", 1)
		start := time.Now()
		_, err := q.Acquire(t.Context(), "b", 1)
		if waited := time.Since(start); problem.Of(err).Status != 503 || waited > time.Minute {
			t.Errorf("%v after %s", err, waited)
		}
		release(0)
		if used, waiting := q.Load(); used != 0 || waiting != 0 {
			t.Errorf("%d used, %d waiting", used, waiting)
		}
	})
}

func TestAClientThatLeavesGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(2, 10)
		release, _ := q.Acquire(t.Context(), "a", 1)
		ctx, leave := context.WithCancel(t.Context())
		var heavy, light error
		go func() { _, heavy = q.Acquire(ctx, "a", 2) }()
		synctest.Wait()
		go func() {
			var done Release
			done, light = q.Acquire(t.Context(), "b", 1)
			done(0)
		}()
		synctest.Wait()
		leave()
		synctest.Wait()
		if !errors.Is(heavy, context.Canceled) || light != nil {
			t.Errorf("heavy %v, light %v", heavy, light)
		}
		release(0)
		if used, waiting := q.Load(); used != 0 || waiting != 0 {
			t.Errorf("%d used, %d waiting", used, waiting)
		}
	})
}
