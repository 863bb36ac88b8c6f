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

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
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
	entry, state, err := p.Get(t.Context(), "a", request.Request{Path: "/a.png", WebP: 75})
	if err != nil {
		return nil, state, problem.Of(err).Status
	}
	return entry, state, http.StatusOK
}

func TestEncodingWaitsForItsTurnAndOthersDoNotWaitForIt(t *testing.T) {
	for name, known := range map[string]bool{"of the source": false, "of the cache": true} {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(func(context.Context, original.Validators) (*source.Response, error) { return respond(square(), nil) })
			synctest.Test(t, func(t *testing.T) {
				if known {
					get(t, p, "/a.png")
				}
				release, err := p.queues.encodes.acquire(t.Context(), "b", 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				failed := make(chan int, 1)
				go func() {
					_, _, status := getWebP(t, p)
					failed <- status
				}()
				synctest.Wait()
				if _, waiting := p.queues.encodes.Load(); waiting != 1 {
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
			for name, q := range map[string]queue{"encode": p.queues.encodes, "shrink": p.queues.shrink, "memory": p.queues.originals} {
				if used, waiting := q.Load(); used != 0 || waiting != 0 {
					t.Errorf("queue %s: %d used, %d waiting", name, used, waiting)
				}
			}
		})
	}
}

func TestWhatIsTooHeavyToEncodeKeepsItsFormat(t *testing.T) {
	p := newPipeline(func(context.Context, original.Validators) (*source.Response, error) { return respond(square(), nil) })
	p.Memory = 5 * 30 * 30
	if entry, _, status := getWebP(t, p); status != http.StatusOK || entry.ContentType != "image/png" {
		t.Errorf("%d %+v", status, entry)
	}
}

// An entry that is too old, or of an original that was replaced, is not encoded.
func TestOnlyWhatMayBeServedIsEncoded(t *testing.T) {
	opened := 0
	p := newPipeline(func(context.Context, original.Validators) (*source.Response, error) {
		opened++
		return respond(square(), nil)
	})
	for age, want := range map[time.Duration]int{0: 0, 3 * time.Hour: 1} {
		entry := cache.NewEntry(square(), "image/png", time.Now().Add(-age))
		p.cache.Put(request.Request{Path: "/a.png"}.Key(), entry)
		opened = 0
		if got, _, status := getWebP(t, p); status != http.StatusOK || got.ContentType != "image/webp" || opened != want {
			t.Errorf("an entry of %v: %d, the source is asked %d times, want %d", age, status, opened, want)
		}
		p.cache.Remove(request.Request{Path: "/a.png", WebP: 75}.Key())
	}
}
