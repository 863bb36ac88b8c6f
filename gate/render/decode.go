package render

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"math"

	"golang.org/x/image/webp"

	"github.com/darkroom-operator/darkroom-operator/gate/jpeg"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
)

// decode decodes an original, or the readable part of a damaged one, to *image.Gray, *image.YCbCr, *image.CMYK or
// *image.RGBA.
func decode(body []byte, info original.Info, denominator int) (image.Image, error) {
	img, err := decodeFile(body, info, denominator)
	if err != nil {
		return nil, err
	}
	switch img := img.(type) {
	case *image.Gray, *image.CMYK, *image.RGBA:
		return img, nil
	case *image.YCbCr:
		if info.Format == "webp" {
			widen(img)
		}
		return img, nil
	case *image.NYCbCrA:
		widen(&img.YCbCr)
	case *image.Gray16:
		return drawn(image.NewGray(img.Rect), img), nil
	}
	return drawn(image.NewRGBA(img.Bounds()), img), nil
}

func decodeFile(body []byte, info original.Info, denominator int) (image.Image, error) {
	switch info.Format {
	case "jpeg":
		return jpeg.Decode(body[:info.JPEG.Length], denominator)
	case "webp":
		return webp.Decode(bytes.NewReader(body))
	}
	img, err := png.Decode(bytes.NewReader(body))
	if err == nil {
		return img, nil
	}
	if repaired := original.RepairPNG(body); repaired != nil {
		return png.Decode(bytes.NewReader(repaired))
	}
	return nil, err
}

// margins are the minimum sizes of decoded images relative to the result, by denominator. A pixel at an eighth is the
// average of a block, and needs further filtering.
var margins = []struct {
	denominator int
	margin      float64
}{{8, 1.5}, {4, 1.2}, {2, 1.2}}

// jpegDenominator returns the largest denominator at which the JPEG file can be decoded with enough pixels for the
// result.
func (p Plan) jpegDenominator() int {
	size := p.stored()
	ratio := min(math.Abs(p.area.X1-p.area.X0)/float64(size.Width), math.Abs(p.area.Y1-p.area.Y0)/float64(size.Height))
	for _, m := range margins {
		if p.info.Format == "jpeg" && ratio >= float64(m.denominator)*m.margin {
			return m.denominator
		}
	}
	return 1
}

// drawn draws an image onto another one and returns it.
func drawn(to draw.Image, from image.Image) image.Image {
	draw.Draw(to, to.Bounds(), from, from.Bounds().Min, draw.Src)
	return to
}

// converted converts an image to sRGB, with its profile if it has one.
func converted(from *image.CMYK, profile *original.CMYKProfile) *image.RGBA {
	to := image.NewRGBA(from.Rect)
	if profile == nil {
		draw.Draw(to, to.Rect, from, from.Rect.Min, draw.Src)
	} else {
		profile.Convert(to, from)
	}
	return to
}

// widen converts the limited range of lossy WebP files, which the decoder keeps, to the full range.
func widen(img *image.YCbCr) {
	var luma, chroma [256]byte
	for i := range luma {
		luma[i] = level((float64(i) - 16) * 255 / 219)
		chroma[i] = level((float64(i)-128)*255/224 + 128)
	}
	for plane, table := range map[*[]byte]*[256]byte{&img.Y: &luma, &img.Cb: &chroma, &img.Cr: &chroma} {
		for i, value := range *plane {
			(*plane)[i] = table[value]
		}
	}
}

func level(v float64) byte { return byte(min(max(v+.5, 0), 255)) }
