package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// origin is a web folder that counts requests. Every path below /large is a photo of 12 megapixels, every path below
// /progressive the same as a progressive file, every path below /small a photo of 1200×800 pixels, and every path below
// /tiny a photo of 60×40 pixels. Paths below /png return the same as a PNG file, /bad returns an error, and paths below
// /corpus return a file of the corpus by its name.
type origin struct {
	url          string
	server       *http.Server
	large, small []byte
	progressive  []byte // nil without ImageMagick
	png          []byte
	tiny         []byte
	bomb         []byte
	corpus       map[string][]byte
	requests     atomic.Int64

	mu   sync.Mutex
	down bool
}

func newOrigin() (o *origin, err error) {
	o = &origin{large: photograph(4000, 3000), small: photograph(1200, 800), tiny: photograph(60, 40), bomb: bomb()}
	if o.png, err = asPNG(o.small); err != nil {
		return nil, err
	}
	if o.progressive, err = progressive(o.large); err != nil {
		fmt.Fprintln(os.Stderr, "rows of progressive photos get 404:", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o.url = "http://" + listener.Addr().String()
	o.server = &http.Server{Handler: o, ReadHeaderTimeout: time.Minute}
	go func() { _ = o.server.Serve(listener) }()
	return o, nil
}

func (o *origin) close() { _ = o.server.Close() }

func (o *origin) reset() {
	o.requests.Store(0)
	o.setDown(false)
}

func (o *origin) setDown(down bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down = down
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.requests.Add(1)
	o.mu.Lock()
	down := o.down
	o.mu.Unlock()
	w.Header().Set("ETag", `"1"`)
	switch {
	case down || strings.HasPrefix(r.URL.Path, "/bad"):
		w.WriteHeader(http.StatusInternalServerError)
	case strings.HasPrefix(r.URL.Path, "/large"):
		_, _ = w.Write(o.large)
	case strings.HasPrefix(r.URL.Path, "/progressive") && o.progressive != nil:
		_, _ = w.Write(o.progressive)
	case strings.HasPrefix(r.URL.Path, "/small"):
		_, _ = w.Write(o.small)
	case strings.HasPrefix(r.URL.Path, "/png"):
		_, _ = w.Write(o.png)
	case strings.HasPrefix(r.URL.Path, "/tiny"):
		_, _ = w.Write(o.tiny)
	case strings.HasPrefix(r.URL.Path, "/bomb"):
		_, _ = w.Write(o.bomb)
	case strings.HasPrefix(r.URL.Path, "/corpus"):
		_, _ = w.Write(o.corpus[path.Base(r.URL.Path)])
	default:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<script>alert(1)</script>"))
	}
}

// readCorpus reads the files of a folder, by name.
func readCorpus(folder string) (map[string][]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(folder, entry.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func photograph(width, height int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	random := rand.New(rand.NewPCG(1, 2))
	level := func(v float64) uint8 { return uint8(max(0, min(255, v))) }
	for y := range height {
		for x := range width {
			fx, fy := float64(x)/float64(width), float64(y)/float64(height)
			v := 128 + 60*math.Sin(9*fx+5*fy*fy) + 10*random.Float64()
			img.SetRGBA(x, y, color.RGBA{level(v), level(v*.8 + 30*fy), level(255 - v + 20*fx), 255})
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 85}); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func asPNG(file []byte) ([]byte, error) {
	img, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = png.Encode(&out, img)
	return out.Bytes(), err
}

func progressive(file []byte) ([]byte, error) {
	folder, err := os.MkdirTemp("", "benchgate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	baseline, interlaced := filepath.Join(folder, "baseline.jpg"), filepath.Join(folder, "progressive.jpg")
	if err := os.WriteFile(baseline, file, 0o600); err != nil {
		return nil, err
	}
	if err := magick(baseline, "-interlace", "Plane", interlaced); err != nil {
		return nil, err
	}
	return os.ReadFile(interlaced)
}

// bomb is a small file of 256 megapixels.
func bomb() []byte {
	img := image.NewPaletted(image.Rect(0, 0, 16000, 16000), color.Palette{color.Black, color.White})
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, img); err != nil {
		panic(err)
	}
	return out.Bytes()
}
