// Package original inspects images of the source without decoding their pixels.
package original

import (
	"bytes"
	"image"
	"image/color"
	_ "image/gif"  // format
	_ "image/jpeg" // format
	_ "image/png"  // format
	"net/http"
	"strings"

	_ "golang.org/x/image/webp" // format

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// Validators identify a version of an original for its source, as the source returned them.
type Validators struct {
	ETag, LastModified string
}

// Info describes an image by its header.
type Info struct {
	// Format is jpeg, png, gif or webp; empty for other images, which can be served but
	// not transformed.
	Format string
	// ContentType is the media type, derived from the content.
	ContentType string
	// Size is in pixels; zero if Format is empty.
	Size request.Size
	// BytesPerPixel is what a decoder needs for each pixel.
	BytesPerPixel float64
	// JPEG is set for the format jpeg.
	JPEG JPEG
}

// Inspect reads the header of an image. Content that is not an image is a problem: error
// pages and scripts of the source are never passed on.
func Inspect(body []byte) (Info, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(body))
	if err == nil && config.Width > 0 && config.Height > 0 {
		info := Info{
			Format: format, ContentType: "image/" + format,
			Size:          request.Size{Width: config.Width, Height: config.Height},
			BytesPerPixel: bytesPerPixel(format, config.ColorModel),
		}
		switch format {
		case "jpeg":
			info.JPEG = scanJPEG(body)
			info.JPEG.CMYK = config.ColorModel == color.CMYKModel
			if info.JPEG.Scans > maxScans {
				return Info{}, problem.New(http.StatusUnsupportedMediaType, "the original has %d scans; the maximum is %d", info.JPEG.Scans, maxScans)
			}
			if info.JPEG.Progressive {
				// The decoder keeps all coefficients, of four bytes each.
				info.BytesPerPixel *= 5
			}
		case "png":
			if body[28] != 0 { // interlaced: each pass is an image of its own, before it is merged
				info.BytesPerPixel *= 2
			}
		}
		return info, nil
	}
	switch contentType := Type(body); contentType {
	case "image/avif", "image/bmp", "image/x-icon": // there is no decoder of them here
		return Info{ContentType: contentType}, nil
	}
	return Info{}, problem.New(http.StatusUnsupportedMediaType, "the source returned something that is not an image")
}

// bytesPerPixel is what the decoder of a format needs for a color model.
func bytesPerPixel(format string, model color.Model) float64 {
	if _, ok := model.(color.Palette); ok {
		return 1
	}
	jpeg := format == "jpeg"
	switch {
	case model == color.YCbCrModel:
		return 3
	case jpeg && model == color.GrayModel:
		return 1
	case jpeg, model == color.Gray16Model, model == color.RGBA64Model, model == color.NRGBA64Model:
		return 8 // JPEG files of other models are decoded as YCbCr, and converted
	}
	return 4 // a gray PNG file with a transparent color too
}

// Type returns the media type of an image, derived from its first bytes; empty if it is not an
// image. SVG is none, because it may contain scripts.
func Type(body []byte) string {
	if len(body) >= 12 && (string(body[4:12]) == "ftypavif" || string(body[4:12]) == "ftypavis") {
		return "image/avif"
	}
	if contentType := http.DetectContentType(body); strings.HasPrefix(contentType, "image/") {
		return contentType
	}
	return ""
}

// Weight returns the memory that Darkroom needs for a transformation, in bytes: the file, the
// decoded image, its copy with four bytes per pixel from which Darkroom scales, and two
// copies of the result. Measured with Darkroom v0.4.2, a 12-megapixel JPEG takes 68 MiB; this is an upper bound.
func Weight(info Info, length int64, t request.Transform) int64 {
	const rgba = 4
	// Decoders of JPEG files round up to blocks of 32 pixels, which matters for narrow images.
	pixels := float64(request.Size{Width: info.Size.Width + 31, Height: info.Size.Height + 31}.Pixels())
	scaled := t.Scaled(info.Size)
	// Scaling is done by columns after rows; the image between them has the result's
	// width and the original's height.
	between := float64(scaled.Width) * float64(info.Size.Height)
	if scaled == info.Size {
		between = 0
	}
	result := 2 * float64(scaled.Pixels())
	return 2*length + int64(pixels*(info.BytesPerPixel+rgba)+rgba*(between+result))
}
