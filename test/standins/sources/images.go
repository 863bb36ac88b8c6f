package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"
)

// Size of the images in pixels. The ratio is three to two, so that a resize that ignores the aspect ratio is detected.
const (
	imageWidth  = 1200
	imageHeight = 800
)

// drawnAt is a fixed Last-Modified for all images, so that tests do not depend on the clock.
var drawnAt = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

// drawn contains the images by file name: the samples and the scenes. Each is drawn when it is first requested, so that
// tests without scenes do not wait for them.
var drawn = func() map[string]func() []byte {
	all := map[string]func() []byte{
		"sample.png": sync.OnceValue(func() []byte { return encoded(sample(), png.Encode) }),
		"sample.jpg": sync.OnceValue(func() []byte { return encoded(sample(), encodeJPEG) }),
	}
	for name, s := range scenes {
		all[name+".jpg"] = sync.OnceValue(func() []byte { return encoded(s.draw(), encodeJPEG) })
	}
	return all
}()

// read returns an image in one of the folders by its path without the leading slash. It returns fs.ErrNotExist for
// every path that is not clean: a doubled slash is a different name, as in a bucket.
func read(name string, folders ...string) ([]byte, error) {
	folder, file := path.Split(name)
	draw, found := drawn[file]
	if !found || !slices.Contains(folders, folder) {
		return nil, fs.ErrNotExist
	}
	return draw(), nil
}

func encodeJPEG(w io.Writer, img image.Image) error {
	return jpeg.Encode(w, img, &jpeg.Options{Quality: 88})
}

func encoded(img image.Image, encode func(io.Writer, image.Image) error) []byte {
	var out bytes.Buffer
	if err := encode(&out, img); err != nil {
		panic(fmt.Sprintf("encode an image: %v", err)) // writing to memory cannot fail
	}
	return out.Bytes()
}

// sample draws a gradient with a diagonal, so that cropping and flipping are visible.
func sample() image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, imageWidth, imageHeight))
	for y := range imageHeight {
		for x := range imageWidth {
			c := color.NRGBA{R: uint8(x * 255 / imageWidth), G: uint8(y * 255 / imageHeight), B: 0x60, A: 0xff}
			if x*imageHeight/imageWidth == y {
				c = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}
