package original

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"io"
	"slices"
)

// maxProfile bounds profiles. Those of screens and cameras have a few hundred bytes to some
// kilobytes; larger ones describe printers.
const maxProfile = 60 << 10

// Profile returns the color profile of an image (ICC); nil if it has none.
func Profile(body []byte) []byte {
	var profile []byte
	switch Type(body) {
	case "image/jpeg":
		segments(body, func(marker byte, data []byte) {
			if rest, ok := bytes.CutPrefix(data, []byte("ICC_PROFILE\x00")); ok && marker == profileData && len(rest) > 2 {
				profile = append(profile, rest[2:]...) // parts are in order
			}
		})
	case "image/png":
		pngChunks(body, func(kind string, data []byte) {
			if at := bytes.IndexByte(data, 0); kind == "iCCP" && at >= 0 && len(data) > at+2 {
				profile = inflate(data[at+2:])
			}
		})
	case "image/webp":
		webpChunks(body, func(kind string, data []byte) {
			if kind == "ICCP" {
				profile = data
			}
		})
	}
	if len(profile) < 128 || len(profile) > maxProfile {
		return nil
	}
	return profile
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

// WithProfile adds a color profile to a result, which has none. A profile of other colors than
// those of the result, such as CMYK, is left out.
func WithProfile(result, profile []byte) []byte {
	config, format, err := decodeConfig(result)
	if err != nil || len(profile) < 128 || string(profile[16:20]) != colorsOf(config) {
		return result
	}
	switch format {
	case "jpeg":
		segment := binary.BigEndian.AppendUint16([]byte{0xff, profileData}, uint16(2+14+len(profile))) //nolint:gosec // at most maxProfile
		segment = append(segment, "ICC_PROFILE\x00\x01\x01"...)
		return slices.Concat(result[:2], segment, profile, result[2:])
	case "png":
		const header = 33
		data := bytes.NewBufferString("iCCPicc\x00\x00")
		compress := zlib.NewWriter(data)
		_, _ = compress.Write(profile) // to memory
		_ = compress.Close()
		chunk := binary.BigEndian.AppendUint32(nil, uint32(data.Len()-4)) //nolint:gosec // at most maxProfile
		chunk = append(chunk, data.Bytes()...)
		chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(data.Bytes()))
		return slices.Concat(result[:header], chunk, result[header:])
	case "webp":
		return webpWithProfile(result, profile, config)
	}
	return result
}

// colorsOf returns the color space of an image as profiles name it.
func colorsOf(config image.Config) string {
	if gray(config.ColorModel) {
		return "GRAY"
	}
	return "RGB "
}

// webpWithProfile adds a profile, and the header of files with metadata if there is none.
func webpWithProfile(result, profile []byte, config image.Config) []byte {
	const start, end, hasProfile, hasAlpha = 12, 30, 0x20, 0x10
	header, rest := []byte("VP8X\x0a\x00\x00\x00"), result[start:]
	if string(rest[:4]) == "VP8X" && len(result) >= end {
		header, rest = bytes.Clone(result[start:end]), result[end:]
	} else {
		width, height := config.Width-1, config.Height-1
		header = append(header, 0, 0, 0, 0, byte(width), byte(width>>8), byte(width>>16), byte(height), byte(height>>8), byte(height>>16)) //nolint:gosec // 24 bits each
		if string(rest[:4]) == "VP8L" {
			header[8] = hasAlpha // it may have
		}
	}
	header[8] |= hasProfile
	header = binary.LittleEndian.AppendUint32(append(header, "ICCP"...), uint32(len(profile))) //nolint:gosec // at most maxProfile
	body := slices.Concat([]byte("WEBP"), header, profile, make([]byte, len(profile)%2), rest)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...) //nolint:gosec // a file
}
