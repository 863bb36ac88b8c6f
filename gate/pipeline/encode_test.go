package pipeline

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/admission"
	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// square returns a file that is smaller as WebP.
func square() []byte {
	var file bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&file, image.NewGray(image.Rect(0, 0, 30, 30)))
	return file.Bytes()
}

func getWebP(t *testing.T, p *Pipeline) (*cache.Entry, State, int) {
	t.Helper()
	entry, state, err := p.Get(t.Context(), "a", request.Request{Path: "/a.png", WebP: true})
	if err != nil {
		return nil, state, problem.Of(err).Status
	}
	return entry, state, http.StatusOK
}

func TestEncodingWaitsForItsTurnAndOthersDoNotWaitForIt(t *testing.T) {
	p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(square(), nil) })
	synctest.Test(t, func(t *testing.T) {
		release, err := p.queues.renders.Acquire(admission.For(t.Context(), "b"), 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan int, 1)
		go func() {
			_, _, status := getWebP(t, p)
			failed <- status
		}()
		synctest.Wait()
		if _, waiting := p.queues.renders.Load(); waiting != 1 {
			t.Fatalf("%d results wait", waiting)
		}
		for _, path := range []string{"/a.png", "/b.png", "/b.png"} {
			if _, _, status := get(t, p, path); status != http.StatusOK {
				t.Errorf("%s: %d", path, status)
			}
		}
		time.Sleep(time.Minute)
		if got := <-failed; got != http.StatusServiceUnavailable {
			t.Errorf("after a minute: %d", got)
		}
		release(0)
	})
	entry, state, status := getWebP(t, p)
	if status != http.StatusOK || entry.ContentType != "image/webp" {
		t.Errorf("when it is its turn: %d %s", status, state)
	}
	for name, q := range map[string]*admission.Queue{"render": p.queues.renders, "memory": p.queues.originals} {
		if used, waiting := q.Load(); used != 0 || waiting != 0 {
			t.Errorf("queue %s: %d used, %d waiting", name, used, waiting)
		}
	}
}

func TestWhatIsTooHeavyToEncodeKeepsItsFormat(t *testing.T) {
	info, err := original.Inspect(square())
	if err != nil {
		t.Fatal(err)
	}
	weight := render.New(info, request.Transform{}, true).Weight
	for less, want := range []string{"image/webp", "image/png"} {
		p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(square(), nil) })
		p.Memory = 5 * (weight - int64(less))
		if entry, _, status := getWebP(t, p); status != http.StatusOK || entry.ContentType != want {
			t.Errorf("%d bytes too heavy: %d %+v, want %s", less, status, entry, want)
		}
	}
}
