package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// standIn is the path of the test double of Darkroom; DARKROOM_BINARY replaces it.
var standIn = os.Getenv("DARKROOM_BINARY")

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "gate")
	if err != nil {
		panic(err)
	}
	if standIn == "" {
		standIn = filepath.Join(folder, "darkroom")
		build := exec.Command("go", "-C", "..", "build", "-o", standIn, "./test/standins/darkroom")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build the stand-in: %v\n%s", err, out)
			os.Exit(1)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// origin is a configurable source of images that counts requests.
type origin struct {
	url string

	mu       sync.Mutex
	requests map[string]int
	// answer replaces the response; nil serves images.
	answer http.HandlerFunc
	etag   string
}

func newOrigin(t *testing.T) *origin {
	t.Helper()
	o := &origin{requests: map[string]int{}, etag: `"1"`}
	images() // drawing them takes longer than the timeout of the source
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.requests[r.URL.Path]++
		answer, etag := o.answer, o.etag
		o.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		body, ok := images()[strings.TrimLeft(r.URL.Path, "/")]
		if !ok {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<script>alert(1)</script>"))
			return
		}
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

func (o *origin) respond(answer http.HandlerFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answer = answer
}

func (o *origin) asked(path string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests[path]
}

// images are drawn once, by start, because with the race detector this takes longer than the timeout of the source.
var images = sync.OnceValue(func() map[string][]byte {
	draw := func(width, height int) image.Image {
		img := image.NewRGBA(image.Rect(0, 0, width, height))
		for y := range height {
			for x := range width {
				img.SetRGBA(x, y, color.RGBA{uint8(x * 255 / width), uint8(y * 255 / height), 90, 255})
			}
		}
		return img
	}
	asJPEG := func(img image.Image) []byte {
		var out bytes.Buffer
		if err := jpeg.Encode(&out, img, nil); err != nil {
			panic(err)
		}
		return out.Bytes()
	}
	asPNG := func(img image.Image) []byte {
		var out bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img); err != nil {
			panic(err)
		}
		return out.Bytes()
	}
	photo := asJPEG(draw(600, 400))
	return map[string][]byte{
		"photo.jpg": photo, "large.jpg": asJPEG(draw(3000, 2000)),
		"clear.png": asPNG(image.NewNRGBA(image.Rect(0, 0, 60, 40))),
		"bomb.png":  asPNG(image.NewPaletted(image.Rect(0, 0, 16000, 16000), color.Palette{color.Black})),
		"page.jpg":  []byte("<html><script>alert(1)</script></html>"), "cut.jpg": photo[:len(photo)/2],
	}
})

// gate is a running gate with its Darkroom.
type gate struct {
	t         *testing.T
	url       string
	metrics   string
	darkroom  *exec.Cmd
	environ   map[string]string
	stop      context.CancelFunc
	stopped   chan error
	startDark func()
}

// lastPort is below the ephemeral ports. An outgoing connection could take one of these after it was chosen and before
// it is used.
var lastPort atomic.Int32

func init() { lastPort.Store(10_000 + rand.Int32N(15_000)) }

func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", lastPort.Add(1))
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// start runs a gate for a source, with additional variables.
func start(t *testing.T, sourceURL string, environ map[string]string) *gate {
	t.Helper()
	images()
	public, inner, metrics, dark := freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	g := &gate{t: t, url: "http://" + public, metrics: "http://" + metrics, environ: map[string]string{
		"SOURCE_KIND": "webfolder", "SOURCE_BASEURL": sourceURL, "LOG_LEVEL": "fatal",
		"GATE_ADDRESS": public, "GATE_INNER_ADDRESS": inner, "GATE_METRICS_ADDRESS": metrics,
		"GATE_DARKROOM_URL": "http://" + dark,
	}}
	for name, value := range environ {
		g.environ[name] = value
	}
	_, port, _ := net.SplitHostPort(dark)
	g.startDark = func() {
		g.darkroom = exec.Command(standIn, "server", "-p", port)
		g.darkroom.Dir = t.TempDir()
		g.darkroom.Env = []string{
			"SOURCE_KIND=webfolder", "SOURCE_BASEURL=http://" + inner, "LOG_LEVEL=fatal",
			"SOURCE_HYSTRIX_MAXCONCURRENTREQUESTS=1000",
		}
		if err := g.darkroom.Start(); err != nil {
			t.Fatal(err)
		}
	}
	g.startDark()
	t.Cleanup(func() {
		_ = g.darkroom.Process.Kill()
		_ = g.darkroom.Wait()
	})
	g.run()
	t.Cleanup(func() {
		g.stop()
		if err := <-g.stopped; err != nil {
			t.Errorf("gate: %v", err)
		}
	})
	return g
}

// run starts the gate and waits until it is ready.
func (g *gate) run() {
	ctx, stop := context.WithCancel(context.Background())
	g.stop, g.stopped = stop, make(chan error, 1)
	stopped := g.stopped
	go func() {
		stopped <- run(ctx, func(name string) string { return g.environ[name] })
		close(stopped)
	}()
	g.waitUntil("the gate is ready", func() bool {
		response, err := http.Get(g.metrics + "/readyz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

func (g *gate) waitUntil(what string, done func() bool) {
	g.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-g.stopped:
			g.t.Fatalf("the gate ended before %s: %v", what, err)
		default:
		}
		if time.Now().After(deadline) {
			g.t.Fatalf("timed out waiting until %s", what)
		}
	}
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (g *gate) do(method, path string, header map[string]string) answer {
	g.t.Helper()
	request, err := http.NewRequestWithContext(g.t.Context(), method, g.url+path, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		g.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, body}
}

func (g *gate) expect(path string, status int) answer {
	g.t.Helper()
	got := g.do(http.MethodGet, path, nil)
	if got.status != status {
		g.t.Errorf("GET %s: %d %s, want %d", path, got.status, got.body, status)
	}
	return got
}
