package fairqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/property"

	"pgregory.net/rapid"
)

func TestWorkIsAdmittedUpToTheCapacity(t *testing.T) {
	q := New(10, 5, 0)
	first, _ := q.Acquire(For(t.Context(), "a"), 6)
	second, _ := q.Acquire(For(t.Context(), "a"), 4)
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

// The client does not wait for the next work of a client with work in progress.
func TestAClientWithLessWorkIsFirstInATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(2, 10, 0)
		var mu sync.Mutex
		var admitted []string
		var releases []Release
		for _, client := range []string{"a", "a", "a", "b"} {
			go func() {
				release, err := q.Acquire(For(t.Context(), client), 1)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				admitted, releases = append(admitted, client), append(releases, release)
			}()
			synctest.Wait()
		}
		for _, want := range []string{"aab", "aaba"} {
			mu.Lock()
			release := releases[0]
			releases = releases[1:]
			mu.Unlock()
			release(0)
			synctest.Wait()
			if got := strings.Join(admitted, ""); got != want {
				t.Errorf("admitted %s, want %s", got, want)
			}
		}
	})
}

func TestWorkHeavierThanTheCapacityRunsAlone(t *testing.T) {
	q := New(10, 5, 0)
	release, err := q.Acquire(For(t.Context(), "a"), 100)
	if used, _ := q.Load(); err != nil || used != 10 {
		t.Errorf("%d used: %v", used, err)
	}
	release(0)
}

// order fills a queue and adds one waiter after another. It returns the order in which they are admitted when the
// queue is released.
func order(t *testing.T, q *Queue, clients ...string) []string {
	t.Helper()
	var admitted []string
	synctest.Test(t, func(t *testing.T) {
		release, err := q.Acquire(For(t.Context(), ""), q.capacity)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		for i, client := range clients {
			go func() {
				done, err := q.Acquire(For(t.Context(), client), q.capacity)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					admitted = append(admitted, fmt.Sprintf("refused %s%d", client, i))
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
	if got := order(t, New(1, 10, 0), "a", "a", "a", "b", "b", "c"); !slices.Equal(got, want) {
		t.Errorf("admitted %v, want %v", got, want)
	}
}

// Each letter of asked names the client of a waiting request. The client joins then joins the request at an index.
func TestSharedWorkWaitsInTheEarliestTurnOfItsClients(t *testing.T) {
	for _, test := range []struct {
		asked, joins string
		at           int
		want         []string
	}{
		{asked: "aaa", joins: "b", at: 2, want: []string{"a0", "a2", "a1"}},
		{asked: "ac", joins: "b", at: 0, want: []string{"a0", "c1"}},                      // it gains nothing
		{asked: "bbaab", joins: "b", at: 3, want: []string{"b0", "a2", "b1", "a3", "b4"}}, // its own turn is later
	} {
		synctest.Test(t, func(t *testing.T) {
			q := New(1, 10, 0)
			release, _ := q.Acquire(t.Context(), 1)
			var joins []func(context.Context)
			var admitted []string
			for i, client := range test.asked {
				ctx, join := Share(For(t.Context(), string(client)))
				joins = append(joins, join)
				go func() {
					done, err := q.Acquire(ctx, 1)
					if err != nil {
						t.Error(err)
						return
					}
					admitted = append(admitted, fmt.Sprintf("%c%d", client, i))
					done(0)
				}()
				synctest.Wait()
			}
			joins[test.at](For(t.Context(), test.joins))
			release(0)
			synctest.Wait()
			joins[test.at](For(t.Context(), "late")) // the work has ended
			if used, waiting := q.Load(); !slices.Equal(admitted, test.want) || used != 0 || waiting != 0 {
				t.Errorf("%s: admitted %v, want %v; %d used, %d waiting", test.asked, admitted, test.want, used, waiting)
			}
		})
	}
}

// A client at its limit waits until a client below its limit joins.
func TestSharedWorkIsThatOfAClientThatMayHaveMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(4, 10, 1)
		for _, client := range []string{"a", "b"} {
			if _, err := q.Acquire(For(t.Context(), client), 1); err != nil {
				t.Fatal(err)
			}
		}
		ctx, join := Share(For(t.Context(), "a"))
		var done atomic.Bool
		go func() {
			_, err := q.Acquire(ctx, 1)
			done.Store(err == nil)
		}()
		for client, want := range []bool{false, false, true} {
			join(For(t.Context(), string(rune('a'+client))))
			if synctest.Wait(); done.Load() != want {
				t.Errorf("with client %c: admitted %t", 'a'+client, done.Load())
			}
		}
	})
}

func TestAFullQueueMakesPlaceForClientsWithFewerWaiters(t *testing.T) {
	got := order(t, New(1, 3, 0), "a", "a", "a", "a", "b")
	if want := []string{"refused a3", "refused a2", "a0", "b4", "a1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestARefusalIs503WithRetryAfter(t *testing.T) {
	q := New(1, 0, 0)
	release, _ := q.Acquire(For(t.Context(), "a"), 1)
	defer release(0)
	_, err := q.Acquire(For(t.Context(), "b"), 1)
	if p := problem.Of(err); p.Kind != problem.Busy || p.RetryAfter == 0 {
		t.Errorf("%+v", p)
	}
}

func TestNobodyWaitsLongerThanClientsDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(1, 10, 0)
		release, _ := q.Acquire(For(t.Context(), "a"), 1)
		start := time.Now()
		_, err := q.Acquire(For(t.Context(), "b"), 1)
		if waited := time.Since(start); !problem.Is(err, problem.Busy) || waited > time.Minute {
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
		q := New(2, 10, 0)
		release, _ := q.Acquire(For(t.Context(), "a"), 1)
		ctx, leave := context.WithCancel(t.Context())
		var heavy, light error
		go func() { _, heavy = q.Acquire(For(ctx, "a"), 2) }()
		synctest.Wait()
		go func() {
			var done Release
			done, light = q.Acquire(For(t.Context(), "b"), 1)
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

// For random requests, joins and releases, the admitted weight stays within the capacity and within the limit of each
// client; no work waits that fits; and a new client never waits for two turns of another client.
func TestAdmissionsStayWithinTheirBounds(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			const capacity, forClient = 10, 6
			q := New(capacity, 50, forClient)
			type work struct {
				weight  int64
				release Release
			}
			var mu sync.Mutex // one release can admit several
			var running []work
			var joins []func(context.Context)
			clients := rapid.SampledFrom([]string{"a", "b", "c"})
			weights := rapid.Int64Range(0, 12)
			sum := func() (n int64) {
				for _, w := range running {
					n += w.weight
				}
				return n
			}
			for range rapid.IntRange(1, 40).Draw(rt, "steps") {
				switch step := rapid.SampledFrom([]string{"asks", "ends", "joins"}).Draw(rt, "step"); {
				case step == "joins" && len(joins) > 0:
					rapid.SampledFrom(joins).Draw(rt, "join")(For(t.Context(), clients.Draw(rt, "client")))
				case step == "ends" && len(running) > 0:
					at := rapid.IntRange(0, len(running)-1).Draw(rt, "which")
					ended := running[at]
					running = slices.Delete(running, at, at+1)
					ended.release(0)
				default:
					w := work{weight: weights.Draw(rt, "weight")}
					ctx, join := Share(For(t.Context(), clients.Draw(rt, "client")))
					joins = append(joins, join)
					go func() {
						release, err := q.Acquire(ctx, w.weight)
						if err == nil {
							w.weight = min(max(w.weight, 1), forClient)
							w.release = release
							mu.Lock()
							running = append(running, w)
							mu.Unlock()
						}
					}()
				}
				synctest.Wait()
				used, _ := q.Load()
				if used != sum() || used > capacity || used != q.admitted["a"]+q.admitted["b"]+q.admitted["c"] ||
					max(q.admitted["a"], q.admitted["b"], q.admitted["c"]) > forClient {
					rt.Fatalf("%d are admitted, %d run, by clients: %v", used, sum(), q.admitted)
				}
				turns := map[string]int{}
				for _, w := range q.waiters {
					if turns[w.client] >= w.turn {
						rt.Fatalf("client %s has two waiters in turn %d", w.client, w.turn)
					}
					turns[w.client] = w.turn
				}
				if at := q.next(); at >= 0 && used+q.waiters[at].weight <= capacity {
					rt.Fatalf("work of weight %d waits beside %d", q.waiters[at].weight, used)
				}
			}
			for len(running) > 0 {
				ended := running[0]
				running = running[1:]
				ended.release(0)
				synctest.Wait()
			}
			if used, waiting := q.Load(); used != 0 || waiting != 0 || len(q.admitted) != 0 {
				rt.Fatalf("%d and %d waiting are left", used, waiting)
			}
		})
	})
}

func TestTheWorkOfAClientIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(4, 100, 2)
		admitted := map[string]int{}
		for _, client := range []string{"a", "a", "a", "a", "b"} {
			go func() {
				if _, err := q.Acquire(For(t.Context(), client), 1); err == nil {
					admitted[client]++
				}
			}()
			synctest.Wait()
		}
		if admitted["a"] != 2 || admitted["b"] != 1 {
			t.Errorf("admitted %v", admitted)
		}
		time.Sleep(maxWait)
		synctest.Wait()
	})
}

// A client whose turn has come is not overtaken by any number of new clients.
func TestNewClientsDoNotDelayOthersForever(t *testing.T) {
	q := New(1, 10, 0)
	synctest.Test(t, func(t *testing.T) {
		release, err := q.Acquire(For(t.Context(), ""), 1)
		if err != nil {
			t.Fatal(err)
		}
		admitted := make(chan Release, 100)
		ask := func(client string) {
			go func() {
				if release, err := q.Acquire(For(t.Context(), client), 1); err == nil {
					admitted <- release
				}
			}()
			synctest.Wait()
		}
		second := make(chan Release, 1)
		ask("a")
		go func() {
			if release, err := q.Acquire(For(t.Context(), "a"), 1); err == nil {
				second <- release
			}
		}()
		synctest.Wait()
		for i := range 20 {
			ask(fmt.Sprintf("new%d", i))
			release(0)
			synctest.Wait()
			select {
			case release = <-second:
				release(0)
				ask("last")
				for len(admitted) > 0 {
					(<-admitted)(0)
					synctest.Wait()
				}
				return
			case release = <-admitted:
			}
		}
		t.Error("the second request of a client still waits after 20 others")
	})
}

// Without places to wait, work is admitted or refused at once, up to the capacity and up to the limit of the client.
func TestAQueueWithoutPlacesAdmitsWhatFits(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		const capacity = 10
		forClient := rapid.IntRange(1, capacity).Draw(rt, "for a client")
		q := New(capacity, 0, int64(forClient))
		used, of := 0, map[string]int{}
		for range rapid.IntRange(1, 8).Draw(rt, "requests") {
			client := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "client")
			weight := rapid.IntRange(1, forClient).Draw(rt, "weight")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			_, err := q.Acquire(For(ctx, client), int64(weight))
			fits, waited := used+weight <= capacity && of[client]+weight <= forClient, ctx.Err() != nil
			cancel()
			if (err == nil) != fits || waited {
				rt.Fatalf("%d of %d, %d of %d for the client: %v, waited: %t", used, capacity, of[client], forClient, err, waited)
			}
			if fits {
				used, of[client] = used+weight, of[client]+weight
			}
		}
	})
}
