package original

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// RepairPNG fixes damage outside of the pixels that browsers ignore: it removes damaged or repeated metadata and a
// transparent color after the pixels, and adds a missing end. It returns nil if the pixels are damaged.
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
		isMetadata := kind[0]&0x20 != 0 // a bit of the name
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
