package original

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// RepairPNG returns a PNG file as browsers read it, if decoders refuse it for what is not pixels: without chunks of
// metadata that are damaged or repeated, without a transparent color behind the pixels, and with an end. It is nil if
// the pixels themselves are damaged.
func RepairPNG(body []byte) []byte {
	const signature = 8
	if Type(body) != "image/png" || len(body) < signature {
		return nil
	}
	out := slices.Clone(body[:signature])
	seen := map[string]bool{}
	for rest := body[signature:]; len(rest) >= 12; {
		length := int64(binary.BigEndian.Uint32(rest))
		if length > int64(len(rest)-12) {
			break
		}
		chunk, kind := rest[:12+length], string(rest[4:8])
		rest = rest[12+length:]
		if kind == "IEND" {
			break
		}
		intact := crc32.ChecksumIEEE(chunk[4:8+length]) == binary.BigEndian.Uint32(chunk[8+length:])
		isMetadata := kind[0]&0x20 != 0 // a bit of its name
		switch {
		case !isMetadata && !intact:
			return nil
		case isMetadata && (!intact || seen[kind] || kind == "tRNS" && seen["IDAT"]):
			continue
		}
		seen[kind] = true
		out = append(out, chunk...)
	}
	if !seen["IDAT"] {
		return nil
	}
	return append(out, "\x00\x00\x00\x00IEND\xae\x42\x60\x82"...)
}
