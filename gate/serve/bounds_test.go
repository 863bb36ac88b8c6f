package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/pipeline"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// anything is a source with a different image at each path, or without images.
type anything struct {
	image []byte
	etag  string
}

func (a anything) Open(_ context.Context, r source.Request) (*source.Response, error) {
	if a.image == nil {
		return nil, problem.New(problem.Missing, "no image")
	}
	body := append(bytes.Clone(a.image), r.Path...)
	validators := original.Validators{ETag: a.etag, LastModified: a.etag}
	return &source.Response{
		Body: io.NopCloser(bytes.NewReader(body)), Length: int64(len(body)), Validators: validators,
	}, nil
}

func newHandler(t *testing.T, size int, memory int64, folder string, disk int64) *Handler {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	metrics := pipeline.NewMetrics("test")
	log := slog.New(slog.DiscardHandler)
	rules := request.Rules{MaxWidth: 100, MaxHeight: 100}
	return &Handler{Log: log, Rules: rules, Pipeline: pipeline.New(
		pipeline.Options{
			Source: anything{image: append(file.Bytes(), make([]byte, size)...)}, Rules: rules,
			MaxSourcePixels: 1000, MaxSourceBytes: 64 << 20, Revalidate: time.Hour, Memory: memory, DarkroomMemory: 1 << 30,
			Log: log,
		}, nil,
		cache.New(cache.Options{
			Memory: memory / 4, Folder: folder, Disk: disk, Evicted: metrics.Evicted,
			Failed: metrics.DiskFailed, Log: log,
		}),
		metrics)}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestManyDifferentURLsDoNotExceedMemoryAndDisk(t *testing.T) {
	const memory, disk = 32 << 20, 8 << 20
	folder := t.TempDir()
	h := newHandler(t, 4000, memory, folder, disk)
	before := heap()
	const urls = 20_000
	// The bubble waits until the last files are written, and detects goroutines that do not end.
	synctest.Test(t, func(t *testing.T) {
		for i := range urls {
			response := httptest.NewRecorder()
			target := fmt.Sprintf("/%d.png", i)
			h.ServeHTTP(response, httptest.NewRequest(http.MethodGet, target, nil))
			if response.Code != http.StatusOK || !strings.HasSuffix(response.Body.String(), target) {
				t.Fatalf("%s: %d with the image of another path", target, response.Code)
			}
		}
		synctest.Wait()
	})
	if after := heap(); after > before+memory*3/4 {
		t.Errorf("%d MiB in use, before %d MiB", after>>20, before>>20)
	}
	var total int64
	err := filepath.WalkDir(folder, func(_ string, file fs.DirEntry, err error) error {
		if info, statErr := file.Info(); err == nil && statErr == nil && !file.IsDir() {
			total += info.Size()
		}
		return err
	})
	if err != nil || total > disk || total < disk/4 {
		t.Errorf("%d bytes on disk: %v", total, err)
	}
	runtime.KeepAlive(h)
}

// Keys and validators count like images, because clients and sources choose them.
func TestLongURLsAndTagsDoNotExceedTheMemory(t *testing.T) {
	const memory = 32 << 20
	for name, change := range map[string]func(*anything, int){
		"images":         func(*anything, int) {},
		"missing images": func(a *anything, _ int) { a.image = nil },
		"long tags":      func(a *anything, i int) { a.etag = strings.Repeat("a", 20_000) + fmt.Sprint(i) },
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			h := newHandler(t, 0, memory, "", 0)
			for i := range 5000 {
				from := h.Pipeline.Source.(anything)
				change(&from, i)
				h.Pipeline.Source = from
				r := httptest.NewRequest(http.MethodGet, "/"+strings.Repeat("%C3%A9", 1000)+fmt.Sprint(i), nil)
				r.Header.Set("Cdn-Loop", strings.Repeat("a", 10_000)+fmt.Sprint(i))
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
			if after := heap(); after > before+memory/2 {
				t.Errorf("%d MiB in use, before %d MiB", after>>20, before>>20)
			}
			runtime.KeepAlive(h)
		})
	}
}

// pipes is an in-memory listener, so that time can be simulated.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial() net.Conn {
	client, server := net.Pipe()
	p <- server
	return client
}

// closedAfter returns the time until the server closes a connection.
func closedAfter(t *testing.T, conn net.Conn) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		if _, err := conn.Write([]byte("x")); err != nil {
			return time.Since(start)
		}
		if time.Since(start) > time.Hour {
			t.Fatal("not closed within an hour")
		}
		time.Sleep(time.Second)
	}
}

func TestSlowClientsAreDisconnected(t *testing.T) {
	h := newHandler(t, 1<<20, 512<<20, "", 0)
	synctest.Test(t, func(t *testing.T) {
		listener := make(pipes)
		server := newServer(h, slog.New(slog.DiscardHandler), 8)
		go func() { _ = server.Serve(listener) }()

		writer := listener.dial()
		if _, err := writer.Write([]byte("GET /a.png HTTP/1.1\r\nHost: a\r\nX: ")); err != nil {
			t.Fatal(err)
		}
		if took := closedAfter(t, writer); took > 15*time.Second {
			t.Errorf("a client that does not end its request was disconnected after %s", took)
		}

		reader := listener.dial()
		if _, err := reader.Write([]byte("GET /a.png HTTP/1.1\r\nHost: a\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(reader, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for h.sending.kept() > 0 && time.Since(start) < time.Hour {
			time.Sleep(time.Second)
		}
		if took := time.Since(start); took < 30*time.Second || took > 2*time.Minute {
			t.Errorf("a client that does not read its response was disconnected after %s", took)
		}
		_ = reader.Close()
		_ = server.Close()
	})
}

func (l *responseMemory) kept() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// stuck is a client that does not read its response.
type stuck struct {
	*httptest.ResponseRecorder
	late context.Context
	end  context.CancelFunc
}

func (s stuck) Write([]byte) (int, error) {
	<-s.late.Done()
	return 0, os.ErrDeadlineExceeded
}

func (s stuck) SetWriteDeadline(at time.Time) error {
	if !at.After(time.Now()) {
		s.end()
	}
	return nil
}

func TestAClientThatDoesNotReadDoesNotTakeTheMemoryOfOthers(t *testing.T) {
	h := newHandler(t, 1<<20, 32<<20, "", 0)
	ask := func(client, path string, w http.ResponseWriter) {
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.RemoteAddr = client + ":1"
		h.ServeHTTP(w, request)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		refused := 0
		for i := range 10 {
			late, end := context.WithCancel(ctx)
			reader := stuck{httptest.NewRecorder(), late, end}
			go ask("192.0.2.1", fmt.Sprintf("/%d.png", i), reader)
			synctest.Wait()
			if reader.Code == http.StatusServiceUnavailable {
				refused++
			}
		}
		if kept := h.sending.kept(); kept > h.Pipeline.Memory/10 || refused != 7 {
			t.Errorf("%d bytes are kept, %d refused", kept, refused)
		}
		for i := range 10 {
			honest := httptest.NewRecorder()
			ask(fmt.Sprintf("198.51.100.%d", i), "/honest.png", honest)
			if honest.Code != http.StatusOK {
				t.Errorf("another client: %d", honest.Code)
			}
		}
		leave()
		synctest.Wait()
		if kept := h.sending.kept(); kept != 0 {
			t.Errorf("%d bytes are kept after all have left", kept)
		}
	})
}

func TestIdleConnectionsMakePlaceForOthers(t *testing.T) {
	for name, sent := range map[string]string{"idle": "", "within a request": "GET /a.png HTTP/1.1\r\nHost: a\r\nX: "} {
		t.Run(name, func(t *testing.T) {
			answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("image")) })
			server := httptest.NewUnstartedServer(nil)
			server.Config = newServer(answer, slog.New(slog.DiscardHandler), 8)
			server.Start()
			defer server.Close()
			var idle []net.Conn
			for range 200 {
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				_, _ = conn.Write([]byte(sent)) // may be closed already
				idle = append(idle, conn)
			}
			time.Sleep(50 * time.Millisecond) // until all have been read
			response, err := http.Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			closed := make(chan struct{}, len(idle))
			for _, conn := range idle {
				defer conn.Close()
				go func() {
					_, _ = conn.Read(make([]byte, 1))
					closed <- struct{}{}
				}()
			}
			for i, end := 0, time.After(5*time.Minute); i < 200-8; i++ {
				select {
				case <-closed:
				case <-end:
					t.Fatalf("%d of 200 idle connections were closed, with a bound of 8", i)
				}
			}
		})
	}
}

func TestConnectionsMakePlaceOnlyWhenTheirRequestsTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &connections{max: 1, since: map[net.Conn]time.Time{}}
		connect := func() (closed func() bool) {
			client, server := net.Pipe()
			c.changed(server, http.StateNew)
			closed = func() bool {
				_ = client.SetReadDeadline(time.Now().Add(time.Millisecond))
				_, err := client.Read(make([]byte, 1))
				return errors.Is(err, io.EOF)
			}
			if closed() {
				c.changed(server, http.StateClosed)
			} else {
				c.changed(server, http.StateActive)
			}
			return closed
		}
		first := connect()
		second := connect()
		if first() || !second() {
			t.Errorf("a request that has just begun was ended: %v, or a new one was not: %v", first(), !second())
		}
		time.Sleep(slowRequest)
		if third := connect(); !first() || third() {
			t.Error("a slow request was not ended for a new one")
		}
	})
}
