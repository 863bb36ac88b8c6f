package render

import (
	"bytes"
	"fmt"
	"image"
	"image/png"

	"github.com/deepteams/webp"

	"github.com/darkroom-operator/darkroom-operator/gate/jpeg"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

const (
	// maxWebPPixels limits the time to encode WebP, which takes about 0.3 s of processor time for each megapixel.
	maxWebPPixels = 8_000_000
	// Memory of the WebP encoder for each pixel. Measured: 15 bytes without alpha, and 80 with noise as alpha.
	opaqueBytes, alphaBytes = 16, 86
)

// fitsWebP reports whether the result can be encoded as WebP. CMYK files that are not resized keep their colors and
// cannot be encoded as WebP.
func (p Plan) fitsWebP() bool {
	whole := p.info.JPEG.CMYK && p.size == p.info.Size
	return p.info.Format != "webp" && !whole && p.size.Pixels() <= maxWebPPixels &&
		max(p.size.Width, p.size.Height) <= webp.MaxDimension
}

// encoderBytes returns the memory of the WebP encoder for each pixel.
func (p Plan) encoderBytes() float64 {
	if p.info.Format == "jpeg" || p.info.Format == "webp" && p.info.BytesPerPixel == 3 {
		return opaqueBytes
	}
	return alphaBytes
}

// encode encodes a result in the best format, or returns the original if it is equivalent and not larger.
func (p Plan) encode(img image.Image, body []byte) (best []byte, err error) {
	profile := original.Profile(body)
	for _, format := range p.formats(img, profile) {
		file, err := p.encodeAs(img, format)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", format, err)
		}
		file = original.WithProfile(file, profile)
		if best == nil || len(file) < len(best) {
			best = file
		}
		if len(best) < len(body) || p.size.Pixels() > p.info.Size.Pixels() {
			return best, nil
		}
	}
	if p.size == p.info.Size && p.info.Orientation == 1 && !p.forDarkroom {
		return body, nil
	}
	return best, nil
}

// formats returns formats to try for a result. The next one is tried if the file is larger than the original.
func (p Plan) formats(img image.Image, profile []byte) (formats []string) {
	if _, gray := img.(*image.Gray); p.webp && !(gray && profile != nil) { // WebP has no grayscale profiles
		formats = []string{"webp"}
	}
	switch opaque := isOpaque(img); {
	case p.info.Format == "jpeg":
		return append(formats, "jpeg")
	case p.forDarkroom || !opaque && p.info.Format == "png":
		return append(formats, "png")
	case p.info.Format == "png": // Darkroom encodes opaque images as JPEG
		return append(formats, "jpeg", "png")
	}
	return []string{"webp"}
}

func isOpaque(img image.Image) bool { return img.(interface{ Opaque() bool }).Opaque() }

func (p Plan) encodeAs(img image.Image, format string) ([]byte, error) {
	var out bytes.Buffer
	quality := p.quality
	if quality == 0 {
		quality = request.DefaultQuality
	}
	switch format {
	case "jpeg":
		return jpeg.Encode(img, quality)
	case "png":
		level := png.DefaultCompression
		if p.forDarkroom {
			level = png.BestSpeed
		}
		err := (&png.Encoder{CompressionLevel: level}).Encode(&out, img)
		return out.Bytes(), err
	}
	options := webp.DefaultOptions()
	options.Quality = float32(quality)
	options.Segments = 1 // with more segments, the encoder turns off the deblocking filter
	switch _, isRGBA := img.(*image.RGBA); {
	case !isRGBA:
		img = drawn(image.NewRGBA(img.Bounds()), img) // the encoder is slow for other types
	case !isOpaque(img):
		img = drawn(image.NewNRGBA(img.Bounds()), img)
	}
	err := webp.Encode(&out, img, options)
	return out.Bytes(), err
}
