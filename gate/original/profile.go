package original

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"slices"

	"github.com/deepteams/webp/mux"
)

// maxProfile bounds profiles. Profiles of screens and cameras have up to a few kilobytes, profiles of printers more.
const maxProfile = 60 << 10

// Profile returns the ICC profile of an image, or a profile for the gamma and primaries of a PNG file; nil if there is
// none or it equals sRGB.
func Profile(body []byte) []byte {
	profile, plain := embedded(body)
	if profile == nil {
		profile = plain.profile()
	}
	if len(profile) < 128 || len(profile) > maxProfile {
		return nil
	}
	return profile
}

// embedded returns the profile in an image, and the color chunks of a PNG file.
func embedded(body []byte) (profile []byte, plain colors) {
	var numbered [][]byte
	plain = sRGB
	parts(body, func(kind string, data []byte) {
		plain.add(kind, data)
		switch kind {
		case profileData:
			if rest, ok := bytes.CutPrefix(data, []byte("ICC_PROFILE\x00")); ok && len(rest) > 2 {
				numbered = append(numbered, rest)
			}
		case "iCCP":
			if _, packed, ok := bytes.Cut(data, []byte{0}); ok && len(packed) > 1 {
				profile = inflate(packed[1:])
			}
		case "ICCP":
			profile = data
		}
	})
	slices.SortStableFunc(numbered, func(a, b []byte) int { return cmp.Compare(a[0], b[0]) })
	for _, part := range numbered {
		profile = append(profile, part[2:]...)
	}
	return profile, plain
}

func inflate(data []byte) []byte {
	reader, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(io.LimitReader(reader, maxProfile+1))
	if err != nil {
		return nil
	}
	return out
}

// WithProfile adds a color profile to a result without one. It omits profiles for another color space, such as CMYK.
func WithProfile(result, profile []byte) []byte {
	config, format, err := decodeConfig(result)
	if err != nil || len(profile) < 128 || string(profile[16:20]) != colorsOf(config) {
		return result
	}
	switch format {
	case "jpeg":
		length := uint16(2 + 14 + len(profile)) //nolint:gosec // at most maxProfile
		segment := binary.BigEndian.AppendUint16([]byte("\xff"+profileData), length)
		segment = append(segment, "ICC_PROFILE\x00\x01\x01"...)
		return slices.Concat(result[:2], segment, profile, result[2:])
	case "png":
		const header = 33
		data := bytes.NewBufferString("icc\x00\x00")
		compress := zlib.NewWriter(data)
		_, _ = compress.Write(profile) // writes to memory do not fail
		_ = compress.Close()
		return slices.Concat(appendChunk(result[:header:header], "iCCP", data.Bytes()), result[header:])
	case "webp":
		return webpWithProfile(result, profile)
	}
	return result
}

// colorsOf returns the ICC name of the color space of an image.
func colorsOf(config image.Config) string {
	if gray(config.ColorModel) {
		return "GRAY"
	}
	return "RGB "
}

// webpWithProfile adds a profile to a WebP file. Animated files are returned unchanged; results of Darkroom are not
// animated.
func webpWithProfile(result, profile []byte) []byte {
	file, err := mux.NewDemuxer(result)
	if err != nil || file.NumFrames() != 1 {
		return result
	}
	frame, err := file.Frame(0)
	if err != nil {
		return result
	}
	var out bytes.Buffer
	with := mux.NewMuxer()
	with.SetICCProfile(profile)
	if err := errors.Join(with.AddFrame(frame.Data, nil), with.Assemble(&out)); err != nil {
		return result
	}
	return out.Bytes()
}
