package main

import (
	"bytes"
	"compress/zlib"
	"flag"
	"fmt"
	"image"
	"image/color"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deepteams/webp"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
)

var (
	makeFiles = flag.Bool("make-corpus", false, "write testdata/corpus, with programs of the distribution")
	writeTo   = flag.String("write-corpus", "", "write all files of the corpus to this folder, which exists")
)

func deflate(data []byte) []byte {
	return written(func(b *bytes.Buffer) error {
		w := zlib.NewWriter(b)
		_, _ = w.Write(data)
		return w.Close()
	})
}

// transformations of the corpus, with the visible part of the upright scene and its size. The gate rounds sides;
// Darkroom rounds them down.
var transformations = []struct {
	query string
	size  func(o image.Point, round func(numerator, denominator int) int) image.Point
}{
	{"", whole},
	{"w=90", ninety},
	{"w=90&h=40", func(o image.Point, round func(int, int) int) image.Point { return image.Pt(round(40*o.X, o.Y), 40) }},
	{"w=60&h=60&fit=crop&crop=left", func(image.Point, func(int, int) int) image.Point { return image.Pt(60, 60) }},
	{"auto=compress", whole},
	{"auto=format", whole},
	{"auto=format&q=50&w=90", ninety},
	{"blur=1&w=90", ninety},
}

func whole(o image.Point, _ func(int, int) int) image.Point { return o }

func ninety(o image.Point, round func(int, int) int) image.Point {
	return image.Pt(90, round(90*o.Y, o.X))
}

// roundings contains the rounding modes of the gate and of Darkroom.
var roundings = map[string]func(numerator, denominator int) int{
	"Gate":     func(n, d int) int { return (2*n + d) / (2 * d) },
	"Darkroom": func(n, d int) int { return n / d },
}

// acceptsWebP is the header of a browser. It has no effect without auto=format.
var acceptsWebP = map[string]string{"Accept": "image/avif,image/webp,image/apng,*/*;q=0.8"}

func TestCorpus(t *testing.T) {
	if *makeFiles {
		makeCorpus(t)
	}
	if *writeTo != "" {
		for name, body := range corpus() {
			if err := os.WriteFile(filepath.Join(*writeTo, name), body, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Skip("the corpus is written")
	}
	o := newOrigin(t)
	o.respond(func(w http.ResponseWriter, r *http.Request) {
		body, ok := corpus()[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream") // the type of all objects in some buckets
		_, _ = w.Write(body)
	})
	var table strings.Builder
	for _, resizer := range []string{"Gate", "Darkroom"} {
		g := start(t, o.url, map[string]string{"GATE_RESIZER": resizer})
		for _, kind := range slices.Sorted(maps.Keys(corpus())) {
			for _, transformation := range transformations {
				got := g.do(http.MethodGet, "/"+kind+"?"+transformation.query, acceptsWebP)
				sandboxed := strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox; default-src 'none'")
				if sandboxed != (got.header.Get("Content-Type") == original.SVG) ||
					got.header.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%s?%s may run scripts: %v", kind, transformation.query, got.header)
				}
				fmt.Fprintf(&table, "%-24s %-30s %-8s %d %-16s %s\n", kind, transformation.query, resizer,
					got.status, strings.TrimPrefix(got.header.Get("Content-Type"), "image/"),
					compare(kind, got, transformation.query, func(o image.Point) image.Point {
						return transformation.size(o, roundings[resizer])
					}))
			}
		}
	}
	const file = "testdata/corpus.txt"
	if *update {
		if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if recorded, err := os.ReadFile(file); err != nil || string(recorded) != table.String() {
		t.Errorf("%v; go test . -run Corpus -update writes %s:\n%s", err, file, table.String())
	}
}

// compare returns the size of an image, and its difference from the scene.
func compare(kind string, got answer, query string, size func(image.Point) image.Point) string {
	if got.status != http.StatusOK {
		return ""
	}
	if profile := original.Profile(corpus()[kind]); !bytes.Equal(original.Profile(got.body), profile) {
		return "WITHOUT ITS PROFILE"
	}
	if bytes.Equal(got.body, corpus()[kind]) {
		return "as it is"
	}
	img, _, err := image.Decode(bytes.NewReader(got.body))
	if got.header.Get("Content-Type") == "image/webp" {
		img, err = webp.Decode(bytes.NewReader(got.body)) // x/image uses the wrong range for colors, also with alpha
		if lossy, ok := img.(*image.YCbCr); ok {
			img = fullRange(lossy)
		}
	}
	if err != nil {
		return err.Error()
	}
	original := photoSize
	config, _, err := image.DecodeConfig(bytes.NewReader(corpus()[kind]))
	if err == nil && max(config.Width, config.Height) == webSize.X {
		original = webSize
	}
	want := size(original)
	bounds := img.Bounds().Size()
	if bounds != want {
		return fmt.Sprintf("%dx%d, NOT %dx%d", bounds.X, bounds.Y, want.X, want.Y)
	}
	if kind == "truncated.jpg" {
		return fmt.Sprintf("%dx%d as far as it goes", bounds.X, bounds.Y)
	}
	drawn := scene(want)
	if strings.Contains(query, "crop=left") {
		drawn = scene(image.Pt(want.Y*original.X/original.Y, want.Y)).SubImage(image.Rectangle{Max: want}).(*image.NRGBA)
	}
	alike := likeness(kind, img, drawn)
	least := 30.
	if kind == "palette.png" {
		least = 20 // it has few colors
	}
	if alike < least {
		return fmt.Sprintf("%dx%d, OTHER PIXELS (%.0f dB)", bounds.X, bounds.Y, alike)
	}
	return fmt.Sprintf("%dx%d upright", bounds.X, bounds.Y)
}

// fullRange converts the colors of a lossy WebP file from the limited to the full range.
func fullRange(img *image.YCbCr) image.Image {
	out := image.NewNRGBA(img.Rect)
	level := func(v float64) uint8 { return uint8(min(max(v+.5, 0), 255)) }
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			c := img.YCbCrAt(x, y)
			luma, cb, cr := 1.164*(float64(c.Y)-16), float64(c.Cb)-128, float64(c.Cr)-128
			out.SetNRGBA(x, y, color.NRGBA{level(luma + 1.596*cr), level(luma - .392*cb - .813*cr), level(luma + 2.017*cb), 255})
		}
	}
	return out
}

// likeness returns the peak signal-to-noise ratio in dB. Gray files are compared by brightness.
func likeness(kind string, a, b image.Image) float64 {
	var sum, n float64
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			ar, ag, ab, aa := a.At(a.Bounds().Min.X+x, a.Bounds().Min.Y+y).RGBA()
			br, bg, bb, _ := b.At(x, y).RGBA()
			if strings.HasPrefix(kind, "gray") {
				br = (299*br + 587*bg + 114*bb) / 1000
				bg, bb = br, br
			}
			if aa < 0xf000 { // the color of transparent pixels does not matter
				continue
			}
			for _, d := range []float64{float64(ar) - float64(br), float64(ag) - float64(bg), float64(ab) - float64(bb)} {
				sum += d * d / 65536
				n++
			}
		}
	}
	return 10 * math.Log10(255*255/(sum/max(n, 1)))
}
