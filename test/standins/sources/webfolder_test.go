package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func folder(t *testing.T, args ...string) http.Handler {
	t.Helper()
	_, handler, err := webFolderCommand(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

func get(h http.Handler, method, path string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequest(method, path, nil))
	return recorder
}

func TestOnlyExactPathsAreServed(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.txt")
	for path, content := range map[string]string{filepath.Join(dir, "own.txt"): "own", outside: "outside"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	h := folder(t, "--dir", dir)
	for _, test := range []struct {
		method, path string
		want         int
		why          string
	}{
		{http.MethodGet, "/own.txt", 200, "files of the folder are served beside the samples"},
		{http.MethodHead, "/images/sample.png", 200, ""},
		{http.MethodGet, "//images/sample.png", 404, "a doubled slash must show, not be tidied away"},
		{http.MethodGet, "/images//sample.png", 404, ""},
		{http.MethodGet, "/images/../images/sample.png", 404, ""},
		{http.MethodGet, "/link.txt", 404, "a link must not lead out of the folder"},
		{http.MethodGet, "/images", 404, "folders are not listed"},
		{http.MethodGet, "/", 404, ""},
		{http.MethodPost, "/images/sample.png", 405, ""},
	} {
		if got := get(h, test.method, test.path).Code; got != test.want {
			t.Errorf("%s %s: %d, want %d. %s", test.method, test.path, got, test.want, test.why)
		}
	}
}

// lines hands each written line to a channel, so that a test can wait for one.
type lines struct {
	mu     sync.Mutex
	buffer bytes.Buffer
	out    chan map[string]any
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buffer.Write(p)
	for {
		line, err := l.buffer.ReadBytes('\n')
		if err != nil {
			l.buffer.Write(line)
			return len(p), nil
		}
		var entry map[string]any
		if err := json.Unmarshal(line, &entry); err != nil {
			return 0, err
		}
		l.out <- entry
	}
}

func TestEachRequestButProbesIsALineUntilTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &lines{out: make(chan map[string]any, 10)}
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"webfolder", "--addr", "127.0.0.1:0"}, os.Getenv, log) }()

	base := "http://" + (<-log.out)["addr"].(string)
	for _, path := range []string{"/healthz", "//images/sample.png", "/images/sample.png"} {
		response, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	for _, want := range []struct {
		path   string
		status float64
	}{{"//images/sample.png", 404}, {"/images/sample.png", 200}} {
		if entry := <-log.out; entry["path"] != want.path || entry["status"] != want.status {
			t.Errorf("line %v, want %v", entry, want)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("end: %v", err)
	}
}
