package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"

	"github.com/deepteams/webp"
	"golang.org/x/image/draw"
)

// process creates the requested image from an original. Parameters other than w, h, fit, crop, blur and auto are
// accepted but have no effect. Like Darkroom, it neither limits nor cancels anything: an image takes the memory of its
// decoded pixels, and four more bytes per pixel.
func process(original []byte, params map[string]string) ([]byte, error) {
	img, format, err := image.Decode(bytes.NewReader(original))
	if err != nil {
		return nil, fmt.Errorf("decode original: %w", err)
	}
	if lossy, ok := img.(*image.YCbCr); ok && format == "webp" {
		img = fullRange(lossy)
	}
	if img, err = resize(img, params); err != nil {
		return nil, err
	}
	if radius := cleanFloat(params["blur"], 1000); radius > 0 {
		img = blur(img, radius)
	}
	if slices.Contains(strings.Split(params["auto"], ","), "compress") {
		img = turn(img, original)
	}
	return encode(img, format)
}

// fullRange converts the colors of a lossy WebP file, which have the limited range of video, because decoders do not
// convert them.
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

func resize(img image.Image, params map[string]string) (image.Image, error) {
	width, height := cleanInt(params["w"]), cleanInt(params["h"])
	original := img.Bounds()
	switch fit := params["fit"]; {
	case fit == "crop":
		scaled := cover(original.Size(), width, height)
		img, err := scale(img, scaled)
		if err != nil {
			return nil, err
		}
		return crop(img, width, height, params["crop"])
	case fit == "scale":
		return scale(img, image.Pt(width, height))
	case fit == "" && (width != 0 || height != 0):
		return scale(img, contain(original.Size(), width, height))
	}
	return img, nil
}

// contain returns the largest size with the same aspect ratio inside width x height, where 0 means unlimited.
func contain(size image.Point, width, height int) image.Point {
	byWidth := image.Pt(width, width*size.Y/size.X)
	byHeight := image.Pt(height*size.X/size.Y, height)
	if height == 0 || (width != 0 && byWidth.Y <= height) {
		return byWidth
	}
	return byHeight
}

// cover returns the smallest size with the same aspect ratio that covers width x height.
func cover(size image.Point, width, height int) image.Point {
	if byWidth := width * size.Y / size.X; byWidth >= height {
		return image.Pt(width, byWidth)
	}
	return image.Pt(height*size.X/size.Y, height)
}

var errEmpty = errors.New("image without pixels requested")

func scale(img image.Image, size image.Point) (image.Image, error) {
	if size.X <= 0 || size.Y <= 0 {
		return nil, errEmpty
	}
	if size == img.Bounds().Size() {
		return img, nil
	}
	scaled := image.NewRGBA(image.Rectangle{Max: size})
	draw.BiLinear.Scale(scaled, scaled.Bounds(), asRGBA(img), img.Bounds(), draw.Src, nil)
	return scaled, nil
}

func asRGBA(img image.Image) *image.RGBA {
	if known, ok := img.(*image.RGBA); ok {
		return known
	}
	made := image.NewRGBA(img.Bounds())
	draw.Copy(made, made.Rect.Min, img, img.Bounds(), draw.Src, nil)
	return made
}

// crop cuts width x height out of the image, at a point such as "top,left" or else in the middle.
func crop(img image.Image, width, height int, point string) (image.Image, error) {
	if width == 0 || height == 0 {
		// The crop is then empty, and Darkroom encodes the empty image.
		return image.NewRGBA(image.Rectangle{}), nil
	}
	rest := img.Bounds().Size().Sub(image.Pt(width, height))
	from := rest.Div(2)
	for side := range strings.SplitSeq(point, ",") {
		switch side {
		case "left":
			from.X = 0
		case "right":
			from.X = rest.X
		case "top":
			from.Y = 0
		case "bottom":
			from.Y = rest.Y
		}
	}
	cut := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Copy(cut, image.Point{}, img, image.Rectangle{Min: from, Max: from.Add(image.Pt(width, height))}, draw.Src, nil)
	return cut, nil
}

// encode keeps the format, except that an opaque PNG becomes a JPEG, as in Darkroom: a test must not expect image/png
// for a processed photo. Profiles and EXIF data are lost.
func encode(img image.Image, format string) ([]byte, error) {
	var out bytes.Buffer
	var err error
	switch {
	case format == "webp":
		options := webp.DefaultOptions()
		options.Segments = 1 // with more, blocks are visible
		err = webp.Encode(&out, img, options)
	case format == "png" && !opaque(img):
		encoder := png.Encoder{CompressionLevel: png.BestCompression} // as Darkroom
		err = encoder.Encode(&out, img)
	default:
		err = jpeg.Encode(&out, img, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", format, err)
	}
	return out.Bytes(), nil
}

func opaque(img image.Image) bool {
	known, ok := img.(interface{ Opaque() bool })
	return ok && known.Opaque()
}
