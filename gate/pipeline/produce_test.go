package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// parameters draws parameters that are each valid on their own.
func parameters() *rapid.Generator[map[string]string] {
	values := map[string][]string{
		"w": {"1", "10", "100"}, "h": {"1", "10", "100"},
		"fit": {request.FitCrop, request.FitScale, request.FitMax, request.FitMin}, "dpr": {"1", "2.5", "5"},
		"crop": {"top", "bottom,left"},
		"mono": {"000000"}, "blur": {"0.5", "30", "100"}, "rot": {"90", "360"}, "flip": {"h"},
		"auto": {"compress", "format", "format,compress"},
		"q":    {"1", "75", "100"},
	}
	return rapid.Custom(func(t *rapid.T) map[string]string {
		params := map[string]string{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(request.Parameters), rapid.ID).Draw(t, "names") {
			params[name] = rapid.SampledFrom(values[name]).Draw(t, name)
		}
		return params
	})
}

// For any defaults, parameters and image shape, the defaults are applied if possible. Otherwise, the response is the
// same as without them.
func TestDefaultParametersAreAppliedOrLeftOut(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(slices.Concat(pixel(1), []byte(r.URL.RawQuery))) // each query has a different result
	}))
	defer server.Close()
	at, _ := url.Parse(server.URL)
	rapid.Check(t, func(rt *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 1000).Draw(rt, "width"), rapid.IntRange(1, 1000).Draw(rt, "height"))
		body := []byte("<svg></svg>")
		if rapid.Bool().Draw(rt, "readable") {
			var file bytes.Buffer
			_ = png.Encode(&file, image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.Black}))
			body = file.Bytes()
		}
		query := url.Values{}
		for name, value := range parameters().Draw(rt, "query") {
			query.Set(name, value)
		}
		defaults := parameters().Draw(rt, "defaults")
		for _, name := range slices.Sorted(maps.Keys(query)) {
			if rapid.Bool().Draw(rt, name+" is a default too") {
				defaults[name] = query.Get(name)
			}
		}
		onlyDarkroom := rapid.Bool().Draw(rt, "only Darkroom")
		accept := []string{rapid.SampledFrom([]string{"image/webp", "*/*"}).Draw(rt, "accept")}
		type response struct {
			failure problem.Kind
			body    string
		}
		get := func(r request.Request, err error) response {
			p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(body, nil) })
			p.transformer, p.OnlyDarkroom = darkroom.New(at, 1<<20), onlyDarkroom
			p.MaxSourcePixels = 100_000
			var entry *cache.Entry
			if err == nil {
				entry, _, err = p.Get(t.Context(), "a", r)
			}
			if err != nil {
				return response{failure: problem.Of(err).Kind}
			}
			return response{served, string(entry.Body)}
		}
		parse := func(defaults map[string]string) (request.Request, error) {
			rules := request.Rules{MaxWidth: 100, MaxHeight: 100, Defaults: defaults}
			r, err := rules.Parse(&url.URL{Path: "/a.png", RawQuery: query.Encode()})
			r, _ = r.Negotiate(accept)
			return r, err
		}
		r, err := parse(defaults)
		got := get(r, err)
		r.Own = r.Transform
		want := get(r, err)
		if want.failure != served {
			without, err := parse(nil)
			without.WebP = r.WebP // WebP is possible for both
			want = get(without, err)
		}
		if got != want && (got.failure == served || want.failure == served) {
			rt.Fatalf("%s with defaults %v: %q %q, want %q %q", query.Encode(), defaults, got.failure,
				got.body, want.failure, want.body)
		}
	})
}

func TestAnImpossibleDefaultLeavesWhatTheClientAsksFor(t *testing.T) {
	var file bytes.Buffer
	_ = png.Encode(&file, image.NewPaletted(image.Rect(0, 0, 1200, 1000), color.Palette{color.Black}))
	for own, width := range map[request.Transform]int{{Width: 60}: 60, {}: 1200} {
		p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(file.Bytes(), nil) })
		p.MaxSourcePixels, p.Rules = 2_000_000, request.Rules{MaxWidth: 2000, MaxHeight: 2000}
		all := own
		all.Fit, all.Width, all.Height, all.Blur = request.FitScale, 1200, 1000, 100 // too much to blur
		entry, _, err := p.Get(t.Context(), "a", request.Request{Path: "/a.png", Transform: all, Own: own})
		if err != nil {
			t.Errorf("%+v: %v", own, err)
			continue
		}
		if info, err := original.Inspect(entry.Body); err != nil || info.Size.Width != width {
			t.Errorf("%+v: %+v, %v", own, info.Size, err)
		}
	}
}

func TestADamagedImageIsLoggedOnce(t *testing.T) {
	damaged := square()
	damaged[len(damaged)-20]++ // in the pixels
	var log bytes.Buffer
	o := options(func(_ context.Context, r source.Request) (*source.Response, error) {
		if r.Path == "/drawing.svg" {
			return respond([]byte("<svg></svg>"), nil)
		}
		return respond(damaged, nil)
	})
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	p := newPipelineWith(o, cache.Options{Memory: memory / 4})
	for _, path := range []string{"/a.png", "/b.png", "/drawing.svg"} {
		for width := 10; width < 13; width++ {
			if entry, _, err := p.Get(t.Context(), "a", resized(path, width)); err != nil || len(entry.Body) < 10 {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if got := log.String(); strings.Count(got, "path=/a.png") != 1 || strings.Count(got, "\n") != 2 {
		t.Errorf("logged: %s", got)
	}
}

// Darkroom receives an image unchanged, except for trailing data of a JPEG file, if the image needs no preparation. A
// rotated image is sent to it upright.
func TestDarkroomReceivesTheUprightImageAlone(t *testing.T) {
	var received []byte
	var d *darkroom.Darkroom
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner := httptest.NewRecorder()
		d.ServeHTTP(inner, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: r.URL.Path}})
		received = inner.Body.Bytes()
		_, _ = w.Write(pixel(1))
	}))
	defer server.Close()
	at, _ := url.Parse(server.URL)
	d = darkroom.New(at, 1<<20)
	rapid.Check(t, func(rt *rapid.T) {
		img := image.NewGray(image.Rect(0, 0, rapid.IntRange(2, 30).Draw(rt, "width"),
			rapid.IntRange(2, 30).Draw(rt, "height")))
		orientation := rapid.IntRange(1, 8).Draw(rt, "orientation")
		behind := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "behind")
		var file bytes.Buffer
		tiff := append([]byte("II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00"),
			byte(orientation), 0, 0, 0)
		var body, want []byte
		if rapid.Bool().Draw(rt, "JPEG") {
			_ = jpeg.Encode(&file, img, nil)
			exif := slices.Concat([]byte{0xff, 0xe1, 0, byte(8 + len(tiff))}, []byte("Exif\x00\x00"), tiff)
			want = slices.Insert(file.Bytes(), 2, exif...)
			body = slices.Concat(want, behind)
		} else {
			_ = png.Encode(&file, img)
			chunk := slices.Concat([]byte("eXIf"), tiff)
			chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk))
			want = slices.Concat(slices.Insert(file.Bytes(), 33, append([]byte{0, 0, 0, byte(len(tiff))}, chunk...)...), behind)
			body = want
		}
		p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(body, nil) })
		p.transformer, p.OnlyDarkroom = d, rapid.Bool().Draw(rt, "only Darkroom")
		blurred := request.Transform{Blur: 1}
		if _, _, err := p.Get(t.Context(), "a", request.Request{Path: "/a", Transform: blurred, Own: blurred}); err != nil {
			rt.Fatal(err)
		}
		if orientation == 1 {
			if !bytes.Equal(received, want) {
				rt.Fatalf("%d bytes of %d, want %d", len(received), len(body), len(want))
			}
			return
		}
		size := img.Rect.Size()
		if orientation > 4 {
			size.X, size.Y = size.Y, size.X
		}
		info, err := original.Inspect(received)
		if err != nil || info.Orientation != 1 || info.Size != (request.Size{Width: size.X, Height: size.Y}) {
			rt.Fatalf("orientation %d of %v: %+v %v", orientation, img.Rect, info, err)
		}
	})
}

// square returns a file that is smaller as WebP.
func square() []byte {
	var file bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&file, image.NewGray(image.Rect(0, 0, 30, 30)))
	return file.Bytes()
}

func getWebP(t *testing.T, p *Pipeline) (*cache.Entry, State, problem.Kind) {
	t.Helper()
	entry, state, err := p.Get(t.Context(), "a", request.Request{Path: "/a.png", WebP: true})
	if err != nil {
		return nil, state, problem.Of(err).Kind
	}
	return entry, state, served
}

func TestEncodingWaitsForItsTurnAndOthersDoNotWaitForIt(t *testing.T) {
	p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(square(), nil) })
	synctest.Test(t, func(t *testing.T) {
		release, err := p.queues.lightRenders.Acquire(fairqueue.For(t.Context(), "b"), 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan problem.Kind, 1)
		go func() {
			_, _, failure := getWebP(t, p)
			failed <- failure
		}()
		synctest.Wait()
		if _, waiting := p.queues.lightRenders.Load(); waiting != 1 {
			t.Fatalf("%d results wait", waiting)
		}
		for _, path := range []string{"/a.png", "/b.png", "/b.png"} {
			if _, _, failure := get(t, p, path); failure != served {
				t.Errorf("%s: %q", path, failure)
			}
		}
		time.Sleep(time.Minute)
		if got := <-failed; got != problem.Busy {
			t.Errorf("after a minute: %q", got)
		}
		release(0)
	})
	synctest.Test(t, func(t *testing.T) {
		entry, state, failure := getWebP(t, p)
		if failure != served || entry.ContentType != "image/webp" {
			t.Errorf("when it is its turn: %q %s", failure, state)
		}
		synctest.Wait() // memory is released after the last result
		for name, q := range map[string]*fairqueue.Queue{"light": p.queues.lightRenders, "memory": p.queues.originals} {
			if used, waiting := q.Load(); used != 0 || waiting != 0 {
				t.Errorf("queue %s: %d used, %d waiting", name, used, waiting)
			}
		}
	})
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
		if entry, _, failure := getWebP(t, p); failure != served || entry.ContentType != want {
			t.Errorf("%d bytes too heavy: %q %+v, want %s", less, failure, entry, want)
		}
	}
}

func TestWhatHasWaitedTooLongForWebPIsSentInItsFormatAndNotKept(t *testing.T) {
	for _, width := range []int{0, 20} {
		p := newPipeline(func(context.Context, source.Request) (*source.Response, error) { return respond(square(), nil) })
		asked := resized("/a.png", width)
		asked.WebP = true
		for _, step := range []struct {
			waits time.Duration
			late  bool
		}{{patience + time.Second, true}, {patience - time.Second, false}, {0, false}} {
			synctest.Test(t, func(t *testing.T) {
				release, err := p.queues.lightRenders.Acquire(fairqueue.For(t.Context(), "b"), 1<<40)
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(step.waits, func() { release(0) })
				entry, state, err := p.Get(t.Context(), "a", asked)
				if err != nil {
					t.Fatalf("w=%d after %s: %v", width, step.waits, err)
				}
				if step.late == (entry.ContentType == "image/webp") || step.late != entry.Control.Bounded || entry.Control.MaxAge != 0 {
					t.Errorf("w=%d after %s: %s, %+v", width, step.waits, entry.ContentType, entry.Control)
				}
				if kept := step.waits == 0; kept != (state == Hit) {
					t.Errorf("w=%d after %s: %s", width, step.waits, state)
				}
				time.Sleep(step.waits)
			})
		}
	}
}
