package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

var failures = []problem.Kind{
	problem.Forbidden, problem.Missing, problem.Internal, problem.UpstreamFailed, problem.SourceBusy, problem.TimedOut,
}

// While a source fails, a known image is served until it is too old. Once the source reports that the image is missing,
// the image is no longer served.
func TestAKnownImageOutlivesFailuresOfTheSource(t *testing.T) {
	for _, kind := range failures {
		fails := kind.IsFailure()
		start := func() *Pipeline {
			asked := 0
			return newPipeline(func(context.Context, source.Request) (*source.Response, error) {
				if asked++; asked == 1 {
					return respond(pixel(1), nil)
				}
				return nil, problem.New(kind, "no image")
			})
		}
		synctest.Test(t, func(t *testing.T) {
			p := start()
			defer p.failures.StopAllGoroutines()
			get(t, p, "/a.png")
			time.Sleep(2*time.Hour - time.Second)
			if _, state, got := get(t, p, "/a.png"); state != Revalidated || got != served {
				t.Errorf("%s, while the source is being revalidated: %s %q", kind, state, got)
			}
			synctest.Wait()
			_, state, got := get(t, p, "/a.png")
			if fails != (state == Stale && got == served) || !fails && got != kind {
				t.Errorf("%s, afterwards: %s %q", kind, state, got)
			}
			time.Sleep(time.Second)
			if _, state, got := get(t, p, "/a.png"); got != kind {
				t.Errorf("%s, when the image is too old: %s %q", kind, state, got)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			p := start()
			defer p.failures.StopAllGoroutines()
			get(t, p, "/a.png")
			time.Sleep(2 * time.Hour)
			if _, state, got := get(t, p, "/a.png"); got != kind {
				t.Errorf("%s, asked when the image is too old: %s %q", kind, state, got)
			}
			if kept := p.cache.Get(request.Request{Path: "/a.png"}.Key()) != nil; kept != fails {
				t.Errorf("%s: the image is kept for its validators: %t", kind, kept)
			}
		})
	}
}

// During an outage, a known image causes one request to the source every ten seconds, and an unknown image one every
// three.
func TestASourceThatFailsIsAskedOnceInSomeSeconds(t *testing.T) {
	for path, most := range map[string]int{"/known.png": 6, "/unknown.png": 20} {
		synctest.Test(t, func(t *testing.T) {
			asked, fails := 0, false
			p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
				if asked++; fails {
					return nil, source.Failure(errors.New("down"))
				}
				return respond(pixel(1), nil)
			})
			defer p.failures.StopAllGoroutines()
			get(t, p, "/known.png")
			asked, fails = 0, true
			time.Sleep(time.Hour)
			for range 600 {
				get(t, p, path)
				time.Sleep(100 * time.Millisecond)
			}
			if asked < most-1 || asked > most {
				t.Errorf("%s: got %d requests in a minute, want %d", path, asked, most)
			}
		})
	}
}

// A known image is served while the source returns a maintenance page, a partial file, or refuses the credentials.
func TestAKnownImageOutlivesWhatIsNotAboutIt(t *testing.T) {
	refused := problem.New(problem.CredentialsRefused, "the credentials have expired")
	for name, answer := range map[string]opening{
		"a page": func(context.Context, source.Request) (*source.Response, error) {
			return respond([]byte("<html>Back soon"), nil)
		},
		"nothing":     func(context.Context, source.Request) (*source.Response, error) { return respond(nil, nil) },
		"credentials": func(context.Context, source.Request) (*source.Response, error) { return nil, refused },
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			p := newPipeline(func(ctx context.Context, r source.Request) (*source.Response, error) {
				if asked++; asked%2 == 1 {
					return respond(pixel(uint8(asked)), nil)
				}
				return answer(ctx, r)
			})
			defer p.failures.StopAllGoroutines()
			for _, want := range []State{Miss, Revalidated, Stale, Revalidated, Hit} {
				if _, state, kind := get(t, p, "/a.png"); kind != served || state != want {
					t.Errorf("%s: %s %q, want %s", name, state, kind, want)
				}
				if synctest.Wait(); want == Miss {
					time.Sleep(time.Hour)
				} else if want == Stale {
					time.Sleep(time.Hour / 2)
				}
			}
			if _, _, kind := get(t, p, "/other.png"); kind == served || kind.IsFailure() {
				t.Errorf("%s: %q without a known image", name, kind)
			}
		})
	}
}

// Requests of a client never change the responses to other clients for the same original, before, during or afterwards.
// This includes names of proxies for which the source refuses or changes the response, and many requests of which some
// are refused.
func TestNoClientDecidesWhatOthersGet(t *testing.T) {
	honest := []request.Request{
		{Path: "/a.png"},
		{Path: "/a.png", Transform: request.Transform{Width: 100, Fit: request.FitMax}},
	}
	property.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(append(failures, served)).Draw(rt, "what the source returns to other proxies")
		control := rapid.SampledFrom([]original.Control{{}, {NoStore: true}, {Bounded: true}}).Draw(rt, "what it says")
		known := rapid.Bool().Draw(rt, "an image is known")
		age := rapid.SampledFrom([]time.Duration{0, 90 * time.Minute, 3 * time.Hour}).Draw(rt, "age")
		places := rapid.SampledFrom([]string{"free", "none", "lost"}).Draw(rt, "places for requests of the source")
		beside := rapid.Bool().Draw(rt, "at the same time")
		asked := rapid.SampledFrom(honest).Draw(rt, "request of the hostile client")
		p := newPipeline(func(_ context.Context, r source.Request) (*source.Response, error) {
			time.Sleep(time.Second)
			switch {
			case r.Via == "":
				return respond(pixel(1), nil)
			case kind == served:
				return respond(pixel(2), func(r *source.Response) { r.Control = control })
			}
			return nil, problem.New(kind, "other proxies are not welcome")
		})
		var mu sync.Mutex
		var failure error
		expect := func(t *testing.T, r request.Request) {
			entry, _, err := p.Get(t.Context(), "honest", r)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && (!bytes.Equal(entry.Body, pixel(1)) || entry.Control != (original.Control{})) {
				err = errors.New("another image")
			}
			failure = errors.Join(failure, err)
		}
		synctest.Test(t, func(t *testing.T) {
			if known {
				expect(t, honest[0])
				time.Sleep(age)
			}
			occupy := func(client string) {
				if release, err := p.queues.fetches.Acquire(fairqueue.For(t.Context(), client), 1); err == nil {
					time.Sleep(10 * time.Second)
					release(0)
				}
			}
			switch places {
			case "free":
				asked.Via = "made up"
			case "none":
				p.queues.fetches = fairqueue.New(1, 0, 0)
				go occupy("hostile")
			case "lost":
				p.queues.fetches = fairqueue.New(1, 3, 0)
				for range 3 {
					go occupy("hostile")
				}
			}
			synctest.Wait()
			var wait sync.WaitGroup
			wait.Go(func() { _, _, _ = p.Get(t.Context(), "hostile", asked) })
			if synctest.Wait(); !beside {
				wait.Wait()
				time.Sleep(time.Second)
			}
			if places == "none" {
				p.queues.fetches = fairqueue.New(1, 10, 0)
			}
			for _, r := range honest {
				wait.Go(func() { expect(t, r) })
				synctest.Wait()
			}
			if places == "lost" {
				go occupy("another")
			}
			wait.Wait()
			time.Sleep(time.Minute) // refreshes end
		})
		if failure != nil {
			rt.Fatal(failure)
		}
	})
}

func TestOnlyFailuresAreCountedAsErrors(t *testing.T) {
	if got := outcome(nil); got != "ok" {
		t.Error(got)
	}
	if got := outcome(errors.New("connection refused")); got != "error" {
		t.Error(got)
	}
	for _, kind := range failures {
		if got := outcome(problem.New(kind, "no image")); (got == "error") != kind.IsFailure() {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

func TestAnOriginalMayHaveAsManyPixelsAsAreAllowed(t *testing.T) {
	for more, want := range []problem.Kind{served, problem.TooLarge} {
		p := newPipeline(nil)
		p.Source = opening(func(context.Context, source.Request) (*source.Response, error) {
			var file bytes.Buffer
			err := png.Encode(&file, image.NewPaletted(image.Rect(0, 0, int(p.MaxSourcePixels)+more, 1),
				color.Palette{color.Black}))
			if err != nil {
				return nil, err
			}
			return respond(file.Bytes(), nil)
		})
		if _, _, got := get(t, p, "/a.png"); got != want {
			t.Errorf("%d pixels more than allowed: %q, want %q", more, got, want)
		}
	}
}

func TestWhatJustFitsIntoTheMemoryIsNotRefused(t *testing.T) {
	p := newPipeline(nil)
	p.transformer = darkroom.New(&url.URL{Scheme: "http", Host: "127.0.0.1:1"}, 1<<20) // nothing listens there
	info := original.Info{Format: "png", Size: request.Size{Width: 100, Height: 100}, BytesPerPixel: 8}
	transform := request.Transform{Width: 10}
	p.queues.maxTransformWeight = original.Weight(info, 0, transform)
	_, err := p.ask(fairqueue.For(t.Context(), "a"), nil, info, transform)
	if !problem.Is(err, problem.Busy) {
		t.Errorf("Darkroom: %v", err)
	}
	info.Orientation = 6
	p.Memory = 5 * render.Upright(info).Weight // see RenderMemory
	_, _, err = p.upright(fairqueue.For(t.Context(), "a"), &flight{info: info, ctx: fairqueue.For(t.Context(), "a")})
	if !problem.Is(err, problem.Untransformable) {
		t.Errorf("turning: %v", err)
	}
}

// The parts of the memory, including cache and responses, never exceed the limit. No client can use all requests to the
// source or all memory for originals. Each processor renders one image at a time, plus at most one light image. Two
// transformations for each processor are admitted, up to maxTransforms.
func TestQueuesDivideWhatThereIs(t *testing.T) {
	const limit = 512 << 20
	o := Options{Memory: limit, DarkroomMemory: 2 << 30}
	q := newQueues(o, NewMetrics("test"))
	most := func(q *fairqueue.Queue) int64 {
		release, err := q.Acquire(fairqueue.For(t.Context(), "a"), 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		defer release(0)
		used, _ := q.Load()
		return used
	}
	release, err := q.originals.Acquire(fairqueue.For(t.Context(), "a"), 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(fairqueue.For(t.Context(), "b"), 10*time.Second)
	defer cancel()
	other, err := q.originals.Acquire(ctx, limit/50)
	if err != nil {
		t.Fatalf("a client that has all memory for its originals delays others: %v", err)
	}
	other(0)
	release(0)
	allOriginals, cacheWithDisk := most(q.originals)*9/8, o.CacheMemory()*5/4
	rest := limit - allOriginals - most(q.renders) - most(q.lightRenders) - cacheWithDisk - o.ResponseMemory()
	if rest < limit/10 || most(q.originals) < limit/10 {
		t.Errorf("%d bytes are left, originals have %d", rest, most(q.originals))
	}
	if got := most(q.fetches); got > maxFetches/2 || got < maxFetches/4 {
		t.Errorf("a client may have %d of %d requests of the source", got, maxFetches)
	}
	if got := most(q.renders) / q.minRenderWeight; got != int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d images are rendered at a time", got)
	}
	if got := most(q.lightRenders) / q.lightRenderWeight; got < 1 || got > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d light images are rendered at a time", got)
	}
	if got := most(q.transforms) / q.minTransformWeight; got > maxTransforms || got < min(maxTransforms, int64(2*runtime.NumCPU())) {
		t.Errorf("%d transformations at a time", got)
	}
}

// Clients choose the keys, so keys count toward the memory of remembered values, which is a small part of the limit.
func TestKeysOfWhatIsRememberedCount(t *testing.T) {
	o := remembered[*problem.Problem](memory)
	short, long := o.Weigher("a", nil), o.Weigher(strings.Repeat("a", 5001), nil)
	if short < 100 || long-short != 5000 || o.MaximumWeight < memory/100 || o.MaximumWeight > memory/50 {
		t.Errorf("%d and %d of %d", short, long, o.MaximumWeight)
	}
}

// After the source has reported that an original is missing or refused, no result of it is served until the source has
// an original again. This also applies to results for which no request was sent, and while the source fails later.
func TestWhatTheSourceHasNoMoreIsServedToNobody(t *testing.T) {
	var large bytes.Buffer
	if err := png.Encode(&large, image.NewGray(image.Rect(0, 0, 1001, 1))); err != nil {
		t.Fatal(err)
	}
	says := map[string]opening{
		"missing": func(context.Context, source.Request) (*source.Response, error) {
			return nil, problem.New(problem.Missing, "no image")
		},
		"denied": func(context.Context, source.Request) (*source.Response, error) {
			return nil, problem.New(problem.Forbidden, "no image")
		},
		"too large": func(context.Context, source.Request) (*source.Response, error) { return respond(large.Bytes(), nil) },
		"fails": func(context.Context, source.Request) (*source.Response, error) {
			return nil, problem.New(problem.UpstreamFailed, "fails")
		},
		"a page": func(context.Context, source.Request) (*source.Response, error) { return respond([]byte("<html>"), nil) },
		"has it": func(_ context.Context, r source.Request) (*source.Response, error) {
			return respond(pixel(1), func(response *source.Response) {
				response.Validators.ETag, response.Unchanged = "1", r.Known.ETag == "1"
			})
		},
	}
	kinds := slices.Sorted(maps.Keys(says))
	rapid.Check(t, func(rt *rapid.T) {
		kept := cache.Options{Memory: memory / 4}
		if rapid.Bool().Draw(rt, "on disk only") {
			kept = cache.Options{Folder: t.TempDir(), Disk: 1 << 20}
		}
		var now string
		var asked int
		var gone bool // according to the last response of the source
		o := options(func(ctx context.Context, r source.Request) (*source.Response, error) {
			asked++
			if now != "fails" && now != "a page" {
				gone = now != "has it"
			}
			return says[now](ctx, r)
		})
		type asking struct {
			passes   time.Duration
			restarts bool // another process follows and uses the same files
			source   string
			webp     bool
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) asking {
			return asking{
				passes:   rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 59 * time.Minute}).Draw(rt, "passes"),
				restarts: rapid.IntRange(0, 3).Draw(rt, "restarts") == 0,
				source:   rapid.SampledFrom(kinds).Draw(rt, "the source"),
				// Results of one original that do not need Darkroom.
				webp: rapid.Bool().Draw(rt, "WebP"),
			}
		}), 1, 10).Draw(rt, "steps")
		var failure string
		synctest.Test(t, func(t *testing.T) {
			p := newPipelineWith(o, kept)
			defer func() { p.failures.StopAllGoroutines() }()
			for i, next := range steps {
				time.Sleep(next.passes)
				if next.restarts {
					p.failures.StopAllGoroutines()
					p, gone = newPipelineWith(o, kept), false
				}
				now = next.source
				before, wasGone := asked, gone
				_, state, err := p.Get(t.Context(), "a", request.Request{Path: "/a.png", WebP: next.webp})
				if err == nil && wasGone && (asked == before || gone) {
					failure = fmt.Sprintf("step %d: %s of an original that the source does not have", i, state)
					return
				}
				synctest.Wait() // for a refresh behind the response
			}
		})
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}
