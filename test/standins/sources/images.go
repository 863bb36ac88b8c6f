package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"
)

// Size of the sample images in pixels. Three to two, so that a resize that
// forgets the shape shows.
const (
	imageWidth  = 1200
	imageHeight = 800
)

// images finds images by their path without the leading slash.
type images struct {
	drawn map[string][]byte
	// prefixes are the folders of the samples, which also have the scenes.
	prefixes []string
}

// newImages draws the samples under each of the prefixes.
func newImages(prefixes ...string) (*images, error) {
	samples, err := drawSamples()
	if err != nil {
		return nil, err
	}
	p := &images{drawn: map[string][]byte{}, prefixes: prefixes}
	for _, prefix := range prefixes {
		for name, content := range samples {
			p.drawn[path.Join(prefix, name)] = content
		}
	}
	return p, nil
}

// read answers fs.ErrNotExist for what is not there, and for every name that is
// not tidy: a doubled slash is another name here, as it is in a bucket.
func (p *images) read(name string) ([]byte, error) {
	if content, ok := p.drawn[name]; ok {
		return content, nil
	}
	if dir, file := path.Split(name); slices.Contains(p.prefixes, path.Clean(dir)) && name == path.Clean(name) {
		if draw, ok := drawn[file]; ok {
			return draw(), nil
		}
	}
	return nil, fs.ErrNotExist
}

// drawnAt is a fixed Last-Modified for everything: tests compare, clocks do not.
var drawnAt = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

// drawSamples draws a gradient with a diagonal, so that cropping and flipping
// show: sample.png and sample.jpg are opaque, transparent.png is not.
// They are drawn once.
var drawSamples = sync.OnceValues(func() (map[string][]byte, error) {
	opaque := draw(0xff)
	samples := map[string][]byte{}
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"sample.png":      func(b *bytes.Buffer) error { return png.Encode(b, opaque) },
		"sample.jpg":      func(b *bytes.Buffer) error { return jpeg.Encode(b, opaque, nil) },
		"transparent.png": func(b *bytes.Buffer) error { return png.Encode(b, draw(0x80)) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			return nil, fmt.Errorf("draw %s: %w", name, err)
		}
		samples[name] = b.Bytes()
	}
	return samples, nil
})

func draw(alpha uint8) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, imageWidth, imageHeight))
	for y := range imageHeight {
		for x := range imageWidth {
			c := color.NRGBA{R: uint8(x * 255 / imageWidth), G: uint8(y * 255 / imageHeight), B: 0x60, A: alpha}
			if x*imageHeight/imageWidth == y {
				c = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: alpha}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}
