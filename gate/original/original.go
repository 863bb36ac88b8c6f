// Package original inspects images of the source without decoding their pixels.
package original

import (
	"bytes"
	"image"
	"image/color"
	_ "image/gif"  // format
	_ "image/jpeg" // format
	_ "image/png"  // format
	"strings"

	"golang.org/x/image/webp"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// Validators identify a version of an original, as returned by its source.
type Validators struct {
	ETag, LastModified string
	// Source is the name of the source. Other sources do not know these validators.
	Source string
}

// Info describes an image by its header.
type Info struct {
	// Format is jpeg, png or webp; empty for images that can be served but not transformed.
	Format string
	// ContentType is the media type, derived from the content.
	ContentType string
	// Size is the size of the upright image in pixels; zero if unknown.
	Size request.Size
	// Orientation is the EXIF orientation; 1 if the image is stored upright.
	Orientation int
	// BytesPerPixel is the memory that a decoder needs for each pixel.
	BytesPerPixel float64
	JPEG          JPEG
}

// Inspect reads the header of an image. Other content, such as an error page or a script, is a problem and is never
// passed on.
func Inspect(body []byte) (Info, error) {
	info := Info{ContentType: Type(body)}
	if info.ContentType == "" {
		return Info{}, problem.New(problem.NotAnImage, "the source returned something that is not an image")
	}
	config, format, err := decodeConfig(body)
	if err == nil && config.Width > 0 && config.Height > 0 {
		info.Size = request.Size{Width: config.Width, Height: config.Height}
		info.BytesPerPixel = bytesPerPixel(format, config.ColorModel)
		info.Format = format
		info.JPEG.Converted = format == "jpeg" && info.BytesPerPixel > 3
	}
	if !info.scan(body) {
		info.Format = ""
	}
	if info.Orientation > 4 { // rotated by 90 or 270 degrees
		info.Size.Width, info.Size.Height = info.Size.Height, info.Size.Width
	}
	return info, nil
}

// decodeConfig decodes the header. It does not look for WebP in the registry of package image, where other decoders may
// be registered.
func decodeConfig(body []byte) (config image.Config, format string, err error) {
	if Type(body) == "image/webp" {
		config, err = webp.DecodeConfig(bytes.NewReader(body))
		return config, "webp", err
	}
	return image.DecodeConfig(bytes.NewReader(body))
}

// scan adds the properties that image.DecodeConfig does not return, and reports whether Darkroom can transform such
// an image.
func (i *Info) scan(body []byte) bool {
	possible := i.Format != "" && i.Format != "gif"
	length := parts(body, func(kind string, data []byte) { possible = i.add(kind, data) && possible })
	i.Orientation = max(i.Orientation, upright)
	if i.ContentType == "image/jpeg" {
		i.JPEG.Length = length
	} else if i.Format == "" {
		i.Size = sizeOf(i.ContentType, body)
	}
	return possible && i.JPEG.Scans <= maxScans
}

// add adds the properties of a part, and reports whether Darkroom can transform an image that contains it.
func (i *Info) add(kind string, data []byte) (possible bool) {
	switch kind {
	case applicationData, "eXIf", "EXIF": // the first one takes precedence
		tiff, isEXIF := bytes.CutPrefix(data, []byte("Exif\x00\x00")) // some programs write this prefix to WebP files too
		if i.Orientation == 0 && (isEXIF || kind != applicationData) {
			i.Orientation = orientationOf(tiff)
		}
	case "acTL", "ANIM": // animated
		return false
	case "cICP": // results have no such chunk
		return isScreen(data)
	case "IHDR":
		if len(data) == 13 && data[12] != 0 { // interlaced: each pass is a separate image before they are merged
			i.BytesPerPixel *= 2
		}
	case "VP8 ", "VP8L":
		return webpFrame(kind, data) == i.Size
	case profileData:
		i.JPEG.Profile += len(data)
	case scanStart:
		i.JPEG.Scans++
	default:
		if strings.Contains(frames, kind) {
			i.scanFrame(kind, data)
		}
	}
	return true
}

// bytesPerPixel returns the memory that the decoder of a format needs for a color model.
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
		return 8 // other JPEG files are decoded as YCbCr, and converted
	}
	return 4 // also a gray PNG file with a transparent color
}

func gray(model color.Model) bool { return model == color.GrayModel || model == color.Gray16Model }

// Weight returns an upper bound for the memory that Darkroom needs for a transformation, in bytes: the file, the
// decoded image, a copy with four bytes per pixel, and two copies of the result. Darkroom v0.4.2 needs 68 MiB for a
// 12-megapixel JPEG file.
func Weight(info Info, length int64, t request.Transform) int64 {
	const rgba = 4
	// JPEG decoders round up to blocks of 32 pixels, which matters for narrow images.
	pixels := float64(request.Size{Width: info.Size.Width + 31, Height: info.Size.Height + 31}.Pixels())
	scaled := t.Scaled(info.Size)
	// Darkroom scales rows, then columns. The intermediate image has the width of the result and the height of the
	// original.
	between := float64(scaled.Width) * float64(info.Size.Height)
	if scaled == info.Size {
		between = 0
	}
	result := 2 * float64(scaled.Pixels())
	return 2*length + int64(pixels*(info.BytesPerPixel+rgba)+rgba*(between+result))
}
