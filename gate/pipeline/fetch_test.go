package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// broken is a body that fails or panics at its end.
type broken struct {
	io.Reader
	panics bool
}

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && b.panics {
		panic("broken")
	} else if err != nil {
		err = errors.New("broken")
	}
	return n, err
}

// working reports whether work of a pipeline is in progress or about to start.
func working() bool {
	stacks := make([]byte, 1<<20)
	all := string(stacks[:runtime.Stack(stacks, true)])
	return strings.Contains(all, "gate/pipeline.(*Pipeline)") || strings.Contains(all, "gate/share.(*Group")
}

// All admitted places are released, for any requests, any patience of clients, and any behavior of the source and
// Darkroom.
func TestAllThatIsAdmittedIsGivenBack(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 60, 50)), nil); err != nil {
		t.Fatal(err)
	}
	exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08" +
		"\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	stored := slices.Concat(photo.Bytes()[:2], []byte(exif), photo.Bytes()[2:]) // must be decoded
	answers := map[string]func(context.Context, source.Request) (*source.Response, error){
		"panics":   func(context.Context, source.Request) (*source.Response, error) { panic("broken") },
		"no image": func(context.Context, source.Request) (*source.Response, error) { return respond([]byte("<html>"), nil) },
		"fails": func(context.Context, source.Request) (*source.Response, error) {
			return nil, problem.New(problem.UpstreamFailed, "fails")
		},
		"hangs": func(ctx context.Context, _ source.Request) (*source.Response, error) {
			select {
			case <-ctx.Done():
				return nil, source.Failure(ctx.Err())
			case <-time.After(time.Second): // a refresh in the background ends with the source
				return respond(stored, nil)
			}
		},
		"unchanged": func(_ context.Context, r source.Request) (*source.Response, error) {
			return respond(stored, func(response *source.Response) { response.Unchanged = r.Known.ETag != "" })
		},
	}
	for kind, change := range map[string]func(*source.Response){
		"whole":       func(*source.Response) {},
		"no length":   func(r *source.Response) { r.Length = -1 },
		"cut":         func(r *source.Response) { r.Body = io.NopCloser(bytes.NewReader(stored[:300])) },
		"not decoded": func(r *source.Response) { r.Body, r.Length = io.NopCloser(bytes.NewReader(stored[:300])), -1 },
		"breaks":      func(r *source.Response) { r.Body = io.NopCloser(broken{bytes.NewReader(stored[:300]), false}) },
		"reading panics": func(r *source.Response) {
			r.Body, r.Length = io.NopCloser(broken{bytes.NewReader(stored), true}), -1
		},
	} {
		answers[kind] = func(context.Context, source.Request) (*source.Response, error) {
			return respond(stored, func(r *source.Response) {
				r.Validators.ETag = "1"
				change(r)
			})
		}
	}
	kinds := make([]string, 0, len(answers))
	for kind := range answers {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	var transformed atomic.Int64
	statuses := []int{http.StatusOK, http.StatusOK, http.StatusUnprocessableEntity, http.StatusInternalServerError, 0}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := statuses[int(transformed.Add(1))%len(statuses)]
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		_, _ = w.Write(photo.Bytes())
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	type asking struct {
		path, width, client int
		patience            time.Duration
	}
	property.Check(t, func(rt *rapid.T) {
		cycle := rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 8).Draw(rt, "responses of the source")
		asked := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) asking {
			return asking{
				path: rapid.IntRange(0, 3).Draw(rt, "path"), width: rapid.SampledFrom([]int{0, 50, 60, 100}).Draw(rt, "width"),
				client:   rapid.IntRange(0, 2).Draw(rt, "client"),
				patience: time.Duration(rapid.IntRange(0, 5).Draw(rt, "patience")) * time.Millisecond,
			}
		}), 1, 20).Draw(rt, "asked")
		var opened atomic.Int64
		o := options(func(ctx context.Context, r source.Request) (*source.Response, error) {
			return answers[cycle[int(opened.Add(1))%len(cycle)]](ctx, r)
		})
		o.Revalidate, o.MaxSourcePixels = time.Millisecond, 10_000
		p := newPipelineWith(o, cache.Options{Memory: memory / 4})
		defer p.failures.StopAllGoroutines()
		p.transformer, p.queues.fetches = darkroom.New(at, 1<<20), fairqueue.New(2, 4, 1)
		var wait sync.WaitGroup
		for _, a := range asked {
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), a.patience)
				defer cancel()
				_, _, _ = p.Get(ctx, fmt.Sprint(a.client), resized(fmt.Sprintf("/%d.jpg", a.path), a.width))
			})
		}
		wait.Wait()
		queues := []*fairqueue.Queue{p.queues.fetches, p.queues.originals, p.queues.renders, p.queues.lightRenders, p.queues.transforms}
		for end := time.Now().Add(5 * time.Minute); working() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		for i, q := range queues {
			if used, waiting := q.Load(); used != 0 || waiting != 0 {
				rt.Errorf("queue %d: %d admitted and %d waiting are left", i, used, waiting)
			}
		}
	})
}

// An original counts with the memory that it occupies, which is not much more than its length, no matter how the source
// sends it.
func TestAnOriginalThatIsKeptCountsWithItsMemory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(0, 10_000), rapid.IntRange(0, 1_000_000)).Draw(rt, "size")
		body := slices.Concat(pixel(1), make([]byte, size))
		length := rapid.SampledFrom([]int64{int64(len(body)), -1}).Draw(rt, "length")
		p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
			return respond(body, func(r *source.Response) { r.Length = length })
		})
		defer p.failures.StopAllGoroutines()
		entry, _, failure := get(t, p, "/a.png")
		if failure != served || !bytes.Equal(entry.Body, body) {
			rt.Fatal(failure)
		}
		counted := int64(0)
		for counted == 0 { // the cache counts in the background
			counted, _ = p.cache.Usage(cache.TierMemory)
		}
		if taken := int64(cap(entry.Body)); counted < taken || counted > 2*int64(len(body))+8<<10 {
			rt.Errorf("%d bytes are counted of %d that are taken for %d", counted, taken, len(body))
		}
	})
}
