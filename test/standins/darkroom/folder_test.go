package main

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// folder is a web folder with three images of 600x400 pixels that records its requests.
type folder struct {
	url string

	mu    sync.Mutex
	paths []string
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	images, err := drawImages()
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.paths = append(f.paths, r.URL.Path)
		f.mu.Unlock()
		switch img, ok := images[r.URL.Path]; {
		case ok:
			_, _ = w.Write(img)
		case r.URL.Path == "/forbidden.png":
			http.Error(w, "forbidden", http.StatusForbidden)
		case strings.HasPrefix(r.URL.Path, "/bad"):
			w.WriteHeader(http.StatusInternalServerError)
		default:
			http.Error(w, "not an image", http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// env is the environment of a Darkroom that reads the folder.
func (f *folder) env() map[string]string {
	return map[string]string{"SOURCE_KIND": "WebFolder", "SOURCE_BASEURL": f.url}
}

func (f *folder) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paths
}

// drawImages draws once for all tests.
var drawImages = sync.OnceValues(func() (map[string][]byte, error) {
	var clear, solid, photo bytes.Buffer
	err := errors.Join(
		png.Encode(&clear, plain(0x80)), png.Encode(&solid, plain(0xff)), jpeg.Encode(&photo, plain(0xff), nil),
	)
	return map[string][]byte{
		"/images/x.png": clear.Bytes(), "/images/solid.png": solid.Bytes(), "/images/x.jpg": photo.Bytes(),
	}, err
})

func plain(alpha uint8) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, 600, 400))
	for i := range img.Pix {
		img.Pix[i] = 0x60
		if i%4 == 3 {
			img.Pix[i] = alpha
		}
	}
	return img
}
