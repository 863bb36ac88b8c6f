package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAnOutageOfTheSourceServesWhatIsKnown(t *testing.T) {
	o := newOrigin(t)
	g := start(t, o.url, map[string]string{"GATE_REVALIDATE_SECONDS": "0"})
	want := g.expect("/photo.jpg?w=10", http.StatusOK)
	o.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	before := o.asked("/photo.jpg")
	if got := g.expect("/photo.jpg?w=10", http.StatusOK); !bytes.Equal(got.body, want.body) {
		t.Error("another image")
	}
	g.waitUntil("the source is revalidated behind the response", func() bool { return o.asked("/photo.jpg") > before })
	asked := o.asked("/photo.jpg")
	time.Sleep(4 * time.Second) // longer than other failures are remembered
	g.expect("/photo.jpg?w=10", http.StatusOK)
	if got := o.asked("/photo.jpg"); got != asked {
		t.Error("the source that has just failed received another request")
	}
	g.expect("/large.jpg?w=10", http.StatusServiceUnavailable)
}

func TestOnlyWhatDarkroomAloneCanDoNeedsIt(t *testing.T) {
	g := start(t, newOrigin(t).url, nil)
	g.expect("/photo.jpg?w=10&blur=1", http.StatusOK)
	_ = g.darkroom.Process.Kill()
	_ = g.darkroom.Wait()
	g.expect("/photo.jpg?w=10&blur=1", http.StatusOK)
	g.expect("/photo.jpg?w=12", http.StatusOK)
	if got := g.expect("/photo.jpg?w=11&blur=1", http.StatusServiceUnavailable); got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	g.startDark()
	g.waitUntil("Darkroom is used again",
		func() bool { return g.do(http.MethodGet, "/photo.jpg?w=11&blur=1", nil).status == 200 })
}

func TestTheDiskCacheSurvivesARestart(t *testing.T) {
	o := newOrigin(t)
	folder := t.TempDir()
	g := start(t, o.url, map[string]string{"GATE_CACHE_FOLDER": folder})
	want := g.expect("/photo.jpg?w=10", http.StatusOK)
	g.waitUntil("the file is written",
		func() bool { files, _ := filepath.Glob(folder + "/[0-9a-f]*"); return len(files) == 1 })
	g.stop()
	if err := <-g.stopped; err != nil {
		t.Fatal(err)
	}
	o.respond(http.NotFound)
	g.run()
	if got := g.expect("/photo.jpg?w=10", http.StatusOK); !bytes.Equal(got.body, want.body) {
		t.Error("another image")
	}
}

func TestAReadOnlyOrMissingDiskIsOnlyAMissingCache(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	g := start(t, newOrigin(t).url, map[string]string{"GATE_CACHE_FOLDER": folder})
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	g.expect("/photo.jpg?w=10", http.StatusOK)
	g.expect("/photo.jpg?w=10", http.StatusOK)
}
