package pipeline

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/url"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/prepare"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

var failures = []int{
	http.StatusForbidden, http.StatusNotFound, http.StatusGone,
	http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// A source that fails does not take a known image away until it is too old. One that says that it has no image does.
func TestAKnownImageOutlivesFailuresOfTheSource(t *testing.T) {
	for _, status := range failures {
		fails := status >= http.StatusInternalServerError
		start := func() *Pipeline {
			asked := 0
			return newPipeline(func(context.Context, original.Validators) (*source.Response, error) {
				if asked++; asked == 1 {
					return respond(pixel(1), nil)
				}
				return nil, problem.New(status, "no image")
			})
		}
		p := start()
		synctest.Test(t, func(t *testing.T) {
			get(t, p, "/a.png")
			time.Sleep(2*time.Hour - time.Second)
			if _, state, got := get(t, p, "/a.png"); state != Revalidated || got != http.StatusOK {
				t.Errorf("%d, while the source is asked: %s %d", status, state, got)
			}
			synctest.Wait()
			if _, state, got := get(t, p, "/a.png"); fails != (state == Stale && got == http.StatusOK) || !fails && got != status {
				t.Errorf("%d, afterwards: %s %d", status, state, got)
			}
			time.Sleep(time.Second)
			if _, state, got := get(t, p, "/a.png"); got != status {
				t.Errorf("%d, when the image is too old: %s %d", status, state, got)
			}
		})
		p = start()
		synctest.Test(t, func(t *testing.T) {
			get(t, p, "/a.png")
			time.Sleep(2 * time.Hour)
			if _, state, got := get(t, p, "/a.png"); got != status {
				t.Errorf("%d, asked when the image is too old: %s %d", status, state, got)
			}
			if kept := p.cache.Get(request.Request{Path: "/a.png"}.Key()) != nil; kept != fails {
				t.Errorf("%d: the image is kept for its validators: %t", status, kept)
			}
		})
	}
}

func TestOnlyFailuresAreCountedAsErrors(t *testing.T) {
	if got := outcome(nil); got != "ok" {
		t.Error(got)
	}
	if got := outcome(errors.New("connection refused")); got != "error" {
		t.Error(got)
	}
	for _, status := range failures {
		if got := outcome(problem.New(status, "no image")); (got == "error") != (status >= http.StatusInternalServerError) {
			t.Errorf("%d: %s", status, got)
		}
	}
}

func TestAnOriginalMayHaveAsManyPixelsAsAreAllowed(t *testing.T) {
	for more, want := range []int{http.StatusOK, http.StatusRequestEntityTooLarge} {
		p := newPipeline(nil)
		p.Source = opening(func(context.Context, original.Validators) (*source.Response, error) {
			var file bytes.Buffer
			err := png.Encode(&file, image.NewPaletted(image.Rect(0, 0, int(p.MaxSourcePixels)+more, 1), color.Palette{color.Black}))
			if err != nil {
				return nil, err
			}
			return respond(file.Bytes(), nil)
		})
		if _, _, got := get(t, p, "/a.png"); got != want {
			t.Errorf("%d pixels more than allowed: %d, want %d", more, got, want)
		}
	}
}

func TestWhatJustFitsIntoTheMemoryIsNotRefused(t *testing.T) {
	p := newPipeline(nil)
	p.transformer = darkroom.New(&url.URL{Scheme: "http", Host: "127.0.0.1:1"}, 1<<20) // nothing listens there
	info := original.Info{Format: "png", Size: request.Size{Width: 100, Height: 100}, BytesPerPixel: 8}
	transform := request.Transform{Width: 10}
	p.queues.heaviest = original.Weight(info, 0, transform)
	if _, err := p.ask(t.Context(), "a", nil, info, transform); problem.Of(err).Status != http.StatusServiceUnavailable {
		t.Errorf("Darkroom: %v", err)
	}
	plan := prepare.Plan{Factor: 1, Orientation: 6, Weight: p.Memory / 5}
	if _, err := p.prepare(t.Context(), "a", &held{info: info}, plan, request.Size{}); problem.Of(err).Status != http.StatusUnsupportedMediaType {
		t.Errorf("turning: %v", err)
	}
}

// The parts of the memory never exceed it, with those of the cache, of its disk and of responses. A client cannot take all
// requests of the source, and each processor has two transformations to choose from, but there are not more than maxTransforms.
func TestQueuesDivideWhatThereIs(t *testing.T) {
	const limit = 512 << 20
	q := newQueues(Options{Memory: limit, DarkroomMemory: 2 << 30}, NewMetrics("test"))
	most := func(q queue) int64 {
		release, err := q.acquire(t.Context(), "a", 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		defer release(0)
		used, _ := q.Load()
		return used
	}
	rest := limit - most(q.originals) - most(q.shrink) - limit/4 - limit/16 - limit/10
	if rest < limit/10 || most(q.originals) < limit/10 {
		t.Errorf("%d bytes are left, originals have %d", rest, most(q.originals))
	}
	if got := most(q.fetches); got > maxFetches/2 || got < maxFetches/4 {
		t.Errorf("a client may have %d of %d requests of the source", got, maxFetches)
	}
	if got := most(q.transforms) / q.lightest; got > maxTransforms || got < min(maxTransforms, int64(2*runtime.NumCPU())) {
		t.Errorf("%d transformations at a time", got)
	}
}
