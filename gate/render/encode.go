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
	// maxWebPPixels limits the time to encode WebP, which takes about 0.4 s of processor time for each megapixel.
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
	options.Method = 3       // a quarter less processor time than 4, with up to 9 % more bytes for detailed photos
	options.Segments = 1     // with more segments, the encoder turns off the deblocking filter
	options.SNSStrength = 80 // as for photos in libwebp: finer colors, 0.2 dB for 2 % more bytes
	// The encoder is slow for other types than RGBA and NRGBA.
	switch from := img.(type) {
	case *image.YCbCr:
		img = rgbaOf(from)
	case *image.RGBA:
		if !isOpaque(from) {
			img = drawn(image.NewNRGBA(from.Rect), from)
		}
	default:
		img = drawn(image.NewRGBA(from.Bounds()), from)
	}
	err := webp.Encode(&out, img, options)
	return out.Bytes(), err
}

// rgbaOf converts a 4:2:0 image and rounds to the nearest level. Package draw rounds dark colors down and light colors
// up, which costs up to 0.4 dB.
func rgbaOf(from *image.YCbCr) *image.RGBA {
	const precision = 16
	nearest := func(level int32) byte { return byte(max(0, min((level+1<<(precision-1))>>precision, 255))) }
	to := image.NewRGBA(from.Rect)
	for y := range from.Rect.Dy() {
		luma := from.Y[y*from.YStride:][:from.Rect.Dx()]
		blues, reds := from.Cb[y/2*from.CStride:], from.Cr[y/2*from.CStride:]
		line := to.Pix[y*to.Stride:]
		for x, value := range luma {
			gray := int32(value) << precision
			blue, red := int32(blues[x/2])-128, int32(reds[x/2])-128
			pixel := line[4*x:][:4:4]
			pixel[0] = nearest(gray + 91881*red)
			pixel[1] = nearest(gray - 22553*blue - 46802*red)
			pixel[2] = nearest(gray + 116130*blue)
			pixel[3] = 255
		}
	}
	return to
}
