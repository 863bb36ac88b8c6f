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
	"github.com/darkroom-operator/darkroom-operator/gate/encode"
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
			p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(square(), nil) })
			synctest.Test(t, func(t *testing.T) {
				if known {
					get(t, p, "/a.png")
				}
				release, err := p.queues.shrink.Acquire(admission.For(t.Context(), "b"), 1<<40)
				if err != nil {
					t.Fatal(err)
				}
				failed := make(chan int, 1)
				go func() {
					_, _, status := getWebP(t, p)
					failed <- status
				}()
				synctest.Wait()
				if _, waiting := p.queues.shrink.Load(); waiting != 1 {
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
			for name, q := range map[string]*admission.Queue{
				"shrink": p.queues.shrink, "memory": p.queues.originals,
			} {
				if used, waiting := q.Load(); used != 0 || waiting != 0 {
					t.Errorf("queue %s: %d used, %d waiting", name, used, waiting)
				}
			}
		})
	}
}

func TestWhatIsTooHeavyToEncodeKeepsItsFormat(t *testing.T) {
	img, ok := encode.New(square())
	if !ok {
		t.Fatal("it cannot be encoded")
	}
	for less, want := range []string{"image/webp", "image/png"} {
		p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(square(), nil) })
		p.Memory = 5 * (img.Weight - int64(less))
		if entry, _, status := getWebP(t, p); status != http.StatusOK || entry.ContentType != want {
			t.Errorf("%d bytes too heavy: %d %+v, want %s", less, status, entry, want)
		}
	}
}

// A result in its own format is encoded once, without the source, if it may be served; what the source
// says about it remains.
func TestOnlyWhatMayBeServedIsEncoded(t *testing.T) {
	own, webp := request.Request{Path: "/a.png"}.Key(), request.Request{Path: "/a.png", WebP: 75}.Key()
	for name, test := range map[string]struct {
		own, webp time.Duration // ages; zero means that there is none
		asked     int
	}{
		"fresh":              {own: time.Minute},
		"too old":            {own: 3 * time.Hour, asked: 1},
		"fresher than WebP":  {own: time.Minute, webp: 3 * time.Hour},
		"both are too old":   {own: 3 * time.Hour, webp: 3 * time.Hour, asked: 1},
		"only WebP is fresh": {own: 3 * time.Hour, webp: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			p := newPipeline(func(context.Context, source.Request) (*source.Response, error) {
				asked++
				return respond(square(), nil)
			})
			put := func(key string, age time.Duration) *cache.Entry {
				entry := cache.NewEntry(square(), "image/png", cache.Origin{
					Original: "original", Source: original.Validators{ETag: `"1"`}, Validated: time.Now().Add(-age),
					Control: original.Control{Bounded: true, MaxAge: 2 * time.Hour},
				})
				if age != 0 {
					p.cache.Put(key, entry)
				}
				return entry
			}
			p.confirm(request.Request{Path: "/a.png"}, cache.Origin{Original: "original"}) // by this process, some time
			from := put(own, test.own)
			put(webp, test.webp)
			first, _, status := getWebP(t, p)
			again, _, _ := getWebP(t, p)
			if status != http.StatusOK || asked != test.asked || again != first {
				t.Errorf("%d, the source is asked %d times, want %d; encoded once: %t", status, asked, test.asked, again == first)
			}
			if encoded := test.asked == 0 && name != "only WebP is fresh"; encoded && (first.ContentType != "image/webp" ||
				first.Original != from.Original || first.Source != from.Source || first.Control != from.Control ||
				!first.Validated.Equal(from.Validated)) {
				t.Errorf("got %+v, want that of %+v", first, from)
			}
		})
	}
}
