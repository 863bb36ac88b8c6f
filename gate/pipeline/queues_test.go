package pipeline

import (
	"context"
	"fmt"
	"image"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// usableMemory is the memory of Darkroom in these tests, without what it takes when idle.
const usableMemory = 2 << 30

func darkroomQueues() queues {
	return newQueues(Options{Memory: 512 << 20, DarkroomMemory: usableMemory + darkroomIdle}, NewMetrics("test"))
}

// The garbage collector lets the heap grow (see newQueues).
func TestTransformationsShare45PercentOfDarkroomsMemory(t *testing.T) {
	const budget = usableMemory * 45 / 100
	for name, test := range map[string]struct{ weight, admitted int64 }{
		"less than all":               {weight: budget - 1, admitted: budget - 1},
		"all":                         {weight: budget, admitted: budget},
		"more than all, which is all": {weight: 1 << 40, admitted: budget},
	} {
		t.Run(name, func(t *testing.T) {
			transforms := darkroomQueues().transforms
			release, err := transforms.Acquire(fairqueue.For(t.Context(), "a"), test.weight)
			if err != nil {
				t.Fatal(err)
			}
			defer release(0)
			if admitted, _ := transforms.Load(); admitted != test.admitted {
				t.Errorf("got %d bytes admitted, want %d", admitted, test.admitted)
			}
		})
	}
}

func TestTheHeaviestTransformationMayTake70PercentOfDarkroomsMemory(t *testing.T) {
	if got, want := darkroomQueues().maxTransformWeight, int64(usableMemory*70/100); got != want {
		t.Errorf("got %d bytes, want %d", got, want)
	}
}

func TestWhatNeedsTooMuchMemoryIsRefused(t *testing.T) {
	p := newPipeline(nil)
	info := original.Info{Format: "png", Size: request.Size{Width: 10_000, Height: 10_000}, BytesPerPixel: 8}
	_, err := p.ask(fairqueue.For(t.Context(), "a"), nil, info, request.Transform{Width: 10})
	if !problem.Is(err, problem.TooLarge) {
		t.Errorf("Darkroom: %v", err)
	}
	info.Orientation = 6
	p.Memory = 5 * (render.Upright(info).Weight - 1) // see RenderMemory
	_, _, err = p.upright(fairqueue.For(t.Context(), "a"), &flight{info: info, ctx: fairqueue.For(t.Context(), "a")})
	if !problem.Is(err, problem.TooLarge) {
		t.Errorf("turning: %v", err)
	}
}

// Only a busy source is remembered, so that not every client sends it a request.
func TestABusyGateIsNotRememberedAsAFailure(t *testing.T) {
	asked := 0
	p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
		if asked++; asked == 1 {
			return nil, problem.New(problem.Busy, "no place")
		}
		return respond(pixel(1), nil)
	})
	for _, want := range []problem.Kind{problem.Busy, served} {
		if _, _, got := get(t, p, "/a.png"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The only request of a client waits for the work in progress, and for at most two jobs of each other client: one in
// the current turn, and one in its own. This also holds for an image that others are already waiting for, in any size.
func TestTheFirstRequestOfAClientWaitsForOneTurn(t *testing.T) {
	const takes = time.Second
	type asking struct {
		client string
		after  time.Duration
		r      request.Request
	}
	rapid.Check(t, func(rt *rapid.T) {
		clients := []string{"a", "b", "c"}
		draw := func(name string, most int) int { return rapid.IntRange(0, most).Draw(rt, name) }
		var asked []asking
		for i := range 12 { // one client requests all images at once
			asked = append(asked, asking{"a", time.Duration(i), resized(fmt.Sprintf("/%d.png", i), 1)})
		}
		for i := range 1 + draw("more requests", 5) {
			after := time.Duration(1+10*draw("centiseconds", 800)+i) * time.Millisecond
			r := resized(fmt.Sprintf("/%d.png", draw("path", 14)), 1+draw("width", 1))
			asked = append(asked, asking{clients[draw("client", len(clients)-1)], after, r})
		}
		for i := range asked { // do not enlarge the pixel, so that nothing needs Darkroom
			asked[i].r.Transform.Fit, asked[i].r.Own.Fit = request.FitMax, request.FitMax
		}
		forClient := int64(draw("for a client", 1))
		var failures []string
		synctest.Test(t, func(t *testing.T) {
			p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
				time.Sleep(takes)
				return respond(pixel(1), nil)
			})
			defer p.failures.StopAllGoroutines()
			p.queues.fetches = fairqueue.New(1+forClient, maxWaiting, forClient)
			var mu sync.Mutex
			waiting := map[string]int{}
			count := func(client string, n int) int {
				mu.Lock()
				defer mu.Unlock()
				waiting[client] += n
				return waiting[client]
			}
			for _, a := range asked {
				go func() {
					time.Sleep(a.after)
					first, start := count(a.client, 1) == 1, time.Now()
					_, _, err := p.Get(t.Context(), a.client, a.r)
					count(a.client, -1)
					bound := 2*takes + 2*takes*time.Duration(len(clients)-1)
					if took := time.Since(start); err != nil || first && a.after > time.Microsecond && took > bound {
						mu.Lock()
						failures = append(failures, fmt.Sprintf("%+v: %v after %s", a, err, took))
						mu.Unlock()
					}
				}()
			}
			time.Sleep(time.Minute)
		})
		if len(failures) > 0 {
			rt.Fatal(failures)
		}
	})
}

// While one client requests many images, the only request of another client waits at each stage for the work in
// progress, and for at most two jobs of each other client, whatever their load at other stages.
func TestTheFirstRequestOfAClientWaitsForOneTurnAtEachStage(t *testing.T) {
	const takes = time.Second
	type asking struct {
		client, path string
		after        time.Duration
	}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string, most int) int { return rapid.IntRange(0, most).Draw(rt, name) }
		var asked []asking
		for i := range 20 {
			asked = append(asked, asking{"a", fmt.Sprintf("/%d.png", i), time.Duration(i)})
		}
		for i := range 1 + draw("more requests", 5) {
			after := time.Duration(1+10*draw("centiseconds", 1500)+i) * time.Millisecond
			client := rapid.SampledFrom([]string{"b", "c"}).Draw(rt, "client")
			asked = append(asked, asking{client, fmt.Sprintf("/%s%d.png", client, i), after})
		}
		decodings := draw("images that are decoded", 20)
		var failures []string
		synctest.Test(t, func(t *testing.T) {
			p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(pixel(1), nil) })
			defer p.failures.StopAllGoroutines()
			stages := []*fairqueue.Queue{p.queues.fetches, p.queues.lightRenders}
			for _, stage := range stages {
				*stage = *fairqueue.New(1, maxWaiting, 0)
				stage.Waited = func(context.Context, time.Duration) { time.Sleep(takes) }
			}
			for range decodings {
				go func() {
					if release, err := p.queues.lightRenders.Acquire(fairqueue.For(t.Context(), "a"), 1); err == nil {
						release(0)
					}
				}()
			}
			var mu sync.Mutex
			waiting := map[string]int{}
			for _, a := range asked {
				go func() {
					time.Sleep(a.after)
					mu.Lock()
					waiting[a.client]++
					first, start := waiting[a.client] == 1 && a.client != "a", time.Now()
					mu.Unlock()
					_, _, err := p.Get(t.Context(), a.client, request.Request{Path: a.path, WebP: true})
					mu.Lock()
					defer mu.Unlock()
					waiting[a.client]--
					bound := time.Duration(len(stages)) * (2*takes + 2*2*takes)
					if took := time.Since(start); first && (err != nil || took > bound) {
						failures = append(failures, fmt.Sprintf("%+v: %v after %s", a, err, took))
					}
				}()
			}
			time.Sleep(5 * time.Minute)
		})
		if len(failures) > 0 {
			rt.Fatal(failures)
		}
	})
}

// Even if many clients occupy all places with large images, a small image is rendered before any of them ends.
func TestASmallImageDoesNotWaitForLargeOnes(t *testing.T) {
	large := photo(image.Pt(2600, 1700)) // too heavy for the queue of light images
	type isSmall struct{}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(rt, name) }
		small := photo(image.Pt(draw("width", 1, 1200), draw("height", 1, 800)))
		clients := draw("clients with large images", 1, 3)
		number := runtime.GOMAXPROCS(0) + draw("large images of each beyond the places", 0, 3)
		client, width := fmt.Sprint(draw("client", 0, 3)), draw("width of the result", 1, 300)
		webp := rapid.Bool().Draw(rt, "WebP")
		synctest.Test(t, func(t *testing.T) {
			o := options(func(_ context.Context, r source.Request) (*source.Response, error) {
				if r.Path == "/small.jpg" {
					return respond(small, nil)
				}
				return respond(large, nil)
			})
			o.Rules, o.MaxSourcePixels = request.Rules{MaxWidth: 1000, MaxHeight: 500}, 1e7
			o.Memory = 512 << 20 // the default; with less, fewer images are light
			p := newPipelineWith(o, cache.Options{Memory: memory / 4})
			defer p.failures.StopAllGoroutines()
			end := make(chan bool)
			p.queues.renders.Waited = func(ctx context.Context, _ time.Duration) { // once admitted
				if ctx.Value(isSmall{}) == nil {
					<-end
				}
			}
			ask := func(ctx context.Context, client, path string, width int, webp bool) *atomic.Bool {
				var response atomic.Bool
				go func() {
					r := resized(path, width)
					r.Transform.Fit, r.Own.Fit, r.WebP = request.FitMax, request.FitMax, webp
					if _, _, err := p.Get(ctx, client, r); err != nil {
						t.Errorf("%s of client %s: %v", path, client, err)
					}
					response.Store(true)
				}()
				synctest.Wait()
				return &response
			}
			for client := range clients {
				for i := range number {
					ask(t.Context(), fmt.Sprint(client), fmt.Sprintf("/large%d-%d.jpg", client, i), 2, false)
				}
			}
			if used, _ := p.queues.renders.Load(); used+p.queues.minRenderWeight <= o.RenderMemory() {
				rt.Errorf("the large images leave %d bytes", o.RenderMemory()-used)
			}
			ctx := context.WithValue(t.Context(), isSmall{}, true)
			if rendered := ask(ctx, client, "/small.jpg", width, webp); !rendered.Load() {
				rt.Errorf("a small image of client %s waits for large ones", client)
			}
			close(end)
			synctest.Wait()
		})
	})
}
