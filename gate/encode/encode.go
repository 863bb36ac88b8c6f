// Package encode encodes results as WebP.
package encode

import (
	"bytes"
	"fmt"

	"github.com/deepteams/webp"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/prepare"
)

const (
	// maxPixels bounds the time of an encoding: a megapixel takes about 0.3 s of a processor.
	maxPixels = 8_000_000
	// The encoder needs 15 bytes for each pixel, and 80 for noise as alpha, as measured. A PNG file may have alpha.
	opaqueBytes, alphaBytes = 16, 86
)

// Image is a file that can be encoded as WebP.
type Image struct {
	body []byte
	info original.Info
	// Weight is the memory for it, in bytes.
	Weight int64
}

// New returns the image of a file, and false for one that keeps its format: an animation, one of
// more than maxPixels, or one that browsers show but Go does not decode.
func New(body []byte) (Image, bool) {
	info, err := original.Inspect(body)
	if err != nil || info.Format != "jpeg" && info.Format != "png" || info.JPEG.CMYK || info.Size.Pixels() > maxPixels ||
		max(info.Size.Width, info.Size.Height) > webp.MaxDimension {
		return Image{}, false
	}
	each := int64(alphaBytes)
	if info.Format == "jpeg" {
		each = opaqueBytes
	}
	return Image{body, info, prepare.DecodedWeight(info) + each*info.Size.Pixels()}, true
}

// WebP returns the image as WebP of a quality, upright and with its color profile. It is nil if that
// is not smaller, or would lose the profile.
func (i Image) WebP(quality int) ([]byte, error) {
	decoded, err := prepare.Decode(i.body, i.info)
	if err != nil {
		return nil, fmt.Errorf("decode result: %w", err)
	}
	options := webp.DefaultOptions()
	options.Quality = float32(quality)
	options.Segments = 1 // with more, the encoder turns off the filter that removes the edges of blocks
	var out bytes.Buffer
	if err := webp.Encode(&out, prepare.Upright(decoded, i.info), options); err != nil {
		return nil, fmt.Errorf("encode WebP: %w", err)
	}
	profile := original.Profile(i.body)
	made := original.WithProfile(out.Bytes(), profile)
	if len(made) >= len(i.body) || !bytes.Equal(original.Profile(made), profile) {
		return nil, nil
	}
	return made, nil
}
