package main

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// folder is a web folder of three images of 600x400 pixels, red on the left half
// and blue on the right, that remembers what it was asked for.
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
		default:
			http.Error(w, "not an image", http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
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
		png.Encode(&clear, twoColours(600, 400, 0x80)),
		png.Encode(&solid, twoColours(600, 400, 0xff)),
		jpeg.Encode(&photo, twoColours(600, 400, 0xff), nil),
	)
	return map[string][]byte{
		"/images/x.png": clear.Bytes(), "/images/solid.png": solid.Bytes(), "/images/x.jpg": photo.Bytes(),
	}, err
})

func twoColours(width, height int, alpha uint8) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.NRGBA{R: 0xff, A: alpha}
			if x >= width/2 {
				c = color.NRGBA{B: 0xff, A: alpha}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// image decodes a response of any format.
func (a answer) image(t *testing.T) (image.Image, string) {
	t.Helper()
	img, format, err := image.Decode(bytes.NewReader(a.body))
	if err != nil {
		t.Fatalf("status %d, %d bytes: %v", a.status, len(a.body), err)
	}
	return img, format
}
