package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// opening implements a source with one function.
type opening func(context.Context, source.Request) (*source.Response, error)

func (o opening) Open(ctx context.Context, r source.Request) (*source.Response, error) {
	return o(ctx, r)
}

func pixel(shade uint8) []byte {
	img := image.NewGray(image.Rect(0, 0, 1, 1))
	img.Pix[0] = shade
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		panic(err)
	}
	return file.Bytes()
}

func respond(body []byte, change func(*source.Response)) (*source.Response, error) {
	response := &source.Response{Body: io.NopCloser(bytes.NewReader(body)), Length: int64(len(body))}
	if change != nil {
		change(response)
	}
	return response, nil
}

const memory = 128 << 20

func options(from opening) Options {
	return Options{
		Source: from, Rules: request.Rules{MaxWidth: 100, MaxHeight: 100}, MaxSourcePixels: 1000, MaxSourceBytes: 16 << 20,
		Revalidate: time.Hour, StaleIfError: time.Hour, Memory: memory, DarkroomMemory: 1 << 30,
	}
}

// newPipeline returns a pipeline whose entries are fresh for an hour and served for another hour.
func newPipeline(from opening) *Pipeline {
	return newPipelineWith(options(from), cache.Options{Memory: memory / 4})
}

func newPipelineWith(o Options, results cache.Options) *Pipeline {
	metrics := NewMetrics("test")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	results.Evicted, results.Failed, results.Log = metrics.Evicted, metrics.DiskFailed, slog.New(slog.DiscardHandler)
	return New(o, nil, cache.New(results), metrics)
}

func resized(path string, width int) request.Request {
	t := request.Transform{Width: width}
	return request.Request{Path: path, Transform: t, Own: t}
}

// served is the kind of a response without a problem.
const served problem.Kind = ""

func get(t *testing.T, p *Pipeline, path string) (*cache.Entry, State, problem.Kind) {
	t.Helper()
	entry, state, err := p.Get(t.Context(), "a", request.Request{Path: path})
	if err != nil {
		return entry, state, problem.Of(err).Kind
	}
	return entry, state, served
}

func TestAFetchIsCanceledWhenAllWhoWaitForItHaveLeft(t *testing.T) {
	p := newPipeline(nil)
	synctest.Test(t, func(t *testing.T) {
		opened, canceled := 0, false
		p.Source = opening(func(ctx context.Context, _ source.Request) (*source.Response, error) {
			opened++
			<-ctx.Done()
			canceled = true
			return nil, ctx.Err()
		})
		ask := func(width int) context.CancelFunc {
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				_, _, _ = p.Get(ctx, "a", resized("/a.png", width))
			}()
			synctest.Wait()
			return leave
		}
		first, second, third := ask(1), ask(1), ask(2)
		first()
		third()
		synctest.Wait()
		if canceled || opened != 1 {
			t.Errorf("canceled %v while one waits, opened %d times", canceled, opened)
		}
		second()
		synctest.Wait()
		if used, waiting := p.queues.fetches.Load(); !canceled || used != 0 || waiting != 0 {
			t.Errorf("canceled %v, %d places taken, %d waiting", canceled, used, waiting)
		}
	})
}

// stalled is a body that ends with the context of its request.
type stalled struct{ ctx context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, source.Failure(s.ctx.Err())
}

func TestASourceThatHangsIs504AndDelaysNoKnownImage(t *testing.T) {
	for name, hang := range map[string]opening{
		"before the response": func(ctx context.Context, _ source.Request) (*source.Response, error) {
			<-ctx.Done()
			return nil, source.Failure(ctx.Err())
		},
		"in its body": func(ctx context.Context, _ source.Request) (*source.Response, error) {
			return &source.Response{Body: io.NopCloser(stalled{ctx}), Length: -1}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(pixel(1), nil) })
				defer p.failures.StopAllGoroutines()
				get(t, p, "/known.png")
				p.Source = hang
				time.Sleep(p.Revalidate)
				start := time.Now()
				_, state, failure := get(t, p, "/known.png")
				if failure != served || state != Revalidated || time.Since(start) != 0 {
					t.Errorf("a known image: %q %s after %s", failure, state, time.Since(start))
				}
				_, _, failure = get(t, p, "/new.png")
				if failure != problem.TimedOut || time.Since(start) != source.Timeout {
					t.Errorf("a new image: %q after %s", failure, time.Since(start))
				}
				synctest.Wait()
				if _, state, failure := get(t, p, "/known.png"); failure != served || state != Stale {
					t.Errorf("a known image of a source that has failed: %q %s", failure, state)
				}
				time.Sleep(time.Minute) // the last refresh ends
			})
		})
	}
}

func TestAKnownImageIsServedAtOnceAndRefreshedOnceForAllItsResults(t *testing.T) {
	for name, validators := range map[string]original.Validators{"with an ETag": {ETag: `"1"`}, "without": {}} {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(nil)
			synctest.Test(t, func(t *testing.T) {
				asked, shade := 0, uint8(1)
				p.Source = opening(func(_ context.Context, r source.Request) (*source.Response, error) {
					asked++
					time.Sleep(time.Second)
					if r.Known == validators && r.Known.ETag != "" && shade == 1 {
						return &source.Response{Unchanged: true, Validators: r.Known, Body: http.NoBody}, nil
					}
					return respond(pixel(shade), func(r *source.Response) { r.Validators = validators })
				})
				// Results of an entry in the cache, created without Darkroom.
				get(t, p, "/a.png")
				first, _, _ := get(t, p, "/a.png")
				second := *first
				p.cache.Put(resized("/a.png", 1).Key(), &second)
				ask := func() (states []State) {
					for _, width := range []int{0, 1, 0, 1} {
						start := time.Now()
						_, state, err := p.Get(t.Context(), "a", resized("/a.png", width))
						if err != nil || time.Since(start) != 0 {
							t.Errorf("%v after %s", err, time.Since(start))
						}
						states = append(states, state)
					}
					return states
				}
				time.Sleep(p.Revalidate)
				if got := fmt.Sprint(ask()); got != "[revalidated revalidated revalidated revalidated]" {
					t.Error(got)
				}
				time.Sleep(2 * time.Second)
				if got := fmt.Sprint(ask()); got != "[hit hit hit hit]" || asked != 2 {
					t.Errorf("%s, asked %d times", got, asked)
				}
				shade = 2
				time.Sleep(p.Revalidate)
				get(t, p, "/a.png")
				time.Sleep(2 * time.Second)
				if changed, state, _ := get(t, p, "/a.png"); state != Hit || changed.ETag == first.ETag || asked != 3 {
					t.Errorf("%s %s, asked %d times", state, changed.ETag, asked)
				}
				_, freshness := p.assess(request.Request{Path: "/a.png"}, p.cache.Get(resized("/a.png", 1).Key()))
				if freshness != unusable {
					t.Error("the result of an original that was replaced is still served")
				}
			})
		})
	}
}

func TestFailuresAreThoseOfTheOriginal(t *testing.T) {
	asked := 0
	p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
		asked++
		return nil, problem.New(problem.Missing, "none")
	})
	for width := range 8 {
		_, _, err := p.Get(t.Context(), "a", resized("/none.png?", width))
		if !problem.Is(err, problem.Missing) {
			t.Error(err)
		}
	}
	if _, _, failure := get(t, p, "/other.png"); failure != problem.Missing || asked != 2 {
		t.Errorf("%q, asked %d times", failure, asked)
	}
}

func TestWhatASourceForbidsIsNotKept(t *testing.T) {
	for control, want := range map[string]struct {
		state State
		after time.Duration
	}{
		"":                               {Hit, 59 * time.Minute},
		"max-age=60":                     {Revalidated, time.Minute},
		"max-age=60, s-maxage=120":       {Hit, time.Minute},
		"public, S-MAXAGE=\"30\"":        {Revalidated, 30 * time.Second},
		"max-age=99999999":               {Hit, 59 * time.Minute},
		"no-cache, max-age=60":           {Revalidated, time.Second},
		"max-age=0":                      {Hit, 999 * time.Millisecond},
		"no-store":                       {Miss, 0},
		"max-age=60, private=\"cookie\"": {Miss, 0},
	} {
		p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
			return respond(pixel(1), func(r *source.Response) {
				r.Control = original.ParseControl(http.Header{"Cache-Control": {control}}, time.Now())
			})
		})
		synctest.Test(t, func(t *testing.T) {
			get(t, p, "/a.png")
			time.Sleep(want.after)
			if _, state, failure := get(t, p, "/a.png"); state != want.state || failure != served {
				t.Errorf("%q after %s: %s %q, want %s", control, want.after, state, failure, want.state)
			}
		})
	}
}

func TestATimeInTheFutureCountsAsOld(t *testing.T) {
	asked := 0
	p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
		asked++
		return respond(pixel(1), nil)
	})
	synctest.Test(t, func(t *testing.T) {
		get(t, p, "/a.png")
		key := request.Request{Path: "/a.png"}.Key()
		ahead := *p.cache.Get(key)
		ahead.Validated = time.Now().Add(24 * 365 * time.Hour)
		p.cache.Revalidate(key, &ahead)
		if _, state, _ := get(t, p, "/a.png"); state != Revalidated {
			t.Error(state)
		}
		synctest.Wait()
		if _, state, _ := get(t, p, "/a.png"); state != Hit || asked != 2 {
			t.Errorf("%s, asked %d times", state, asked)
		}
	})
}

func TestAnOriginalWithoutALengthReservesLittle(t *testing.T) {
	for _, length := range []int{100, firstRead + 1, 16 << 20} {
		asked := 0
		body := append(pixel(1), make([]byte, length-len(pixel(1)))...)
		p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
			asked++
			return respond(body, func(r *source.Response) { r.Length = -1 })
		})
		p.queues.originals = p.metrics.newQueue("test", 64<<20, 0)
		h, err := p.fetch(fairqueue.For(t.Context(), "a"), source.Request{Path: "/a.png"})
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if length > firstRead {
			want = 2
		}
		used, _ := p.queues.originals.Load()
		if used != min(int64(cap(h.body)), 16<<20) || len(h.body) != length || asked != want {
			t.Errorf("%d of %d bytes, %d are reserved, asked %d times", len(h.body), length, used, asked)
		}
		h.release(0)
		if used, _ := p.queues.originals.Load(); used != 0 {
			t.Errorf("%d are left", used)
		}
	}
	p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
		return respond(make([]byte, 17<<20), func(r *source.Response) { r.Length = -1 })
	})
	_, err := p.fetch(fairqueue.For(t.Context(), "a"), source.Request{Path: "/a.png"})
	if !problem.Is(err, problem.TooLarge) || errors.Is(err, errLonger) {
		t.Error(err)
	}
}

// For any limit and any length, with or without a header, the original is refused or its memory was admitted, except
// for one excess byte.
func TestNoOriginalTakesMoreMemoryThanIsAdmitted(t *testing.T) {
	const memory = 16 << 20
	property.Check(t, func(rt *rapid.T) {
		body := append(pixel(1), make([]byte, rapid.IntRange(0, 6<<20).Draw(rt, "more than a pixel"))...)
		known := rapid.Bool().Draw(rt, "length is known")
		o := options(func(context.Context, source.Request) (*source.Response, error) {
			return respond(body, func(r *source.Response) {
				if !known {
					r.Length = -1
				}
			})
		})
		o.Memory, o.MaxSourceBytes = memory, rapid.Int64Range(1, 6<<20).Draw(rt, "allowed")
		p := newPipelineWith(o, cache.Options{Memory: memory / 4})
		h, err := p.fetch(fairqueue.For(t.Context(), "a"), source.Request{Path: "/a.png"})
		if length := int64(len(body)); (err == nil) != (length <= min(o.MaxSourceBytes, memory/5)) {
			rt.Fatalf("%d bytes: %v", length, err)
		}
		if err != nil {
			return
		}
		used, _ := p.queues.originals.Load()
		if int64(cap(h.body)) > used+1 || used > memory/5 || !bytes.Equal(h.body, body) {
			rt.Fatalf("%d bytes in memory of %d, %d are admitted", len(h.body), cap(h.body), used)
		}
	})
}

func BenchmarkAKnownImage(b *testing.B) {
	p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(pixel(1), nil) })
	r := resized("/products/2026/a photo.png", 1)
	r.Transform.Fit, r.Own.Fit = request.FitMax, request.FitMax
	for b.Loop() {
		if _, _, err := p.Get(b.Context(), "a", r); err != nil {
			b.Fatal(err)
		}
	}
}
