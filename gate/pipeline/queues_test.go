package pipeline

import (
	"context"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/prepare"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

func TestTransformationsAreAdmittedByTheMemoryOfDarkroom(t *testing.T) {
	q := newQueues(Options{Memory: 512 << 20, DarkroomMemory: 2<<30 + darkroomIdle}, NewMetrics("test"))
	for weight, fits := range map[int64]bool{2 << 30 * 45 / 100: true, 2<<30*45/100 - 1: true} {
		release, err := q.transforms.acquire(t.Context(), "a", weight)
		if used, _ := q.transforms.Load(); err != nil || (used == weight) != fits {
			t.Errorf("%d of %d: %v", used, weight, err)
		}
		release(0)
	}
	release, _ := q.transforms.acquire(t.Context(), "a", 1<<40)
	if used, _ := q.transforms.Load(); used != 2<<30*45/100 {
		t.Errorf("at most %d bytes are admitted", used)
	}
	release(0)
	if q.heaviest != 2<<30*70/100 {
		t.Errorf("the heaviest may have %d bytes", q.heaviest)
	}
}

// More decodings than processors would wait for one, with their pixels in memory.
func TestEachProcessorDecodesOneImageAtATime(t *testing.T) {
	p := newPipeline(nil)
	file := pixel(1)
	info, err := original.Inspect(file)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		all := 3 * runtime.GOMAXPROCS(0)
		var decoded atomic.Int64
		next := make(chan struct{})
		for range all {
			go func() {
				_, done, err := p.decode(t.Context(), "a", &held{body: file, info: info}, prepare.Plan{Weight: 1})
				if err != nil {
					t.Error(err)
				}
				decoded.Add(1)
				<-next
				done()
			}()
		}
		for want := runtime.GOMAXPROCS(0); want <= all; want++ {
			if synctest.Wait(); decoded.Load() != int64(want) {
				t.Errorf("%d images are decoded, want %d", decoded.Load(), want)
			}
			next <- struct{}{}
		}
		close(next)
	})
}

func TestWhatNeedsTooMuchMemoryIsRefused(t *testing.T) {
	p := newPipeline(nil)
	info := original.Info{Format: "png", Size: request.Size{Width: 10_000, Height: 10_000}, BytesPerPixel: 8}
	if _, err := p.ask(t.Context(), "a", nil, info, request.Transform{Width: 10}); problem.Of(err).Status != http.StatusRequestEntityTooLarge {
		t.Errorf("Darkroom: %v", err)
	}
	plan := prepare.Plan{Factor: 1, Orientation: 6, Weight: p.Memory/5 + 1}
	if _, err := p.prepare(t.Context(), "a", &held{info: info}, plan, request.Size{}); problem.Of(err).Status != http.StatusRequestEntityTooLarge {
		t.Errorf("turning: %v", err)
	}
}

func TestABusyGateIsNotRememberedAsAFailure(t *testing.T) {
	asked := 0
	p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
		if asked++; asked == 1 {
			return nil, problem.New(http.StatusServiceUnavailable, "too many requests are waiting")
		}
		return respond(pixel(1), nil)
	})
	for _, want := range []int{http.StatusServiceUnavailable, http.StatusOK} {
		if _, _, got := get(t, p, "/a.png"); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}
