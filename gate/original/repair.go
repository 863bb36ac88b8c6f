package original

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
)

// RepairPNG fixes damage that browsers ignore: it removes damaged or repeated metadata, a transparent color after the
// pixels, and data beyond the last pixel, and adds a missing end. It returns nil if the pixels are damaged.
func RepairPNG(body []byte) []byte {
	const signature = 8
	if Type(body) != "image/png" || len(body) < signature {
		return nil
	}
	out := slices.Clone(body[:signature])
	var header, pixels []byte
	seen := map[string]bool{}
	for rest := body[signature:]; len(rest) >= 12; {
		length := int64(binary.BigEndian.Uint32(rest))
		if length > int64(len(rest)-12) {
			break
		}
		chunk, kind := rest[:12+length], string(rest[4:8])
		data := chunk[8 : 8+length]
		rest = rest[12+length:]
		if kind == "IEND" {
			break
		}
		switch intact := crc32.ChecksumIEEE(chunk[4:8+length]) == binary.BigEndian.Uint32(chunk[8+length:]); {
		case isIgnored(kind, intact, seen):
			continue
		case !intact:
			return nil
		case kind == "IHDR":
			header = data
		case kind == "IDAT":
			pixels = append(pixels, data...)
		}
		if seen[kind] = true; kind != "IDAT" {
			out = append(out, chunk...)
		}
	}
	if pixels = withoutExcess(header, pixels); pixels == nil {
		return nil
	}
	return appendChunk(appendChunk(out, "IDAT", pixels), "IEND", nil)
}

// isIgnored reports whether browsers ignore a chunk after those that were seen.
func isIgnored(kind string, intact bool, seen map[string]bool) bool {
	isMetadata := kind[0]&0x20 != 0 // a bit of the name
	return isMetadata && (!intact || seen[kind] || kind == "tRNS" && seen["IDAT"])
}

// withoutExcess returns the compressed pixels of a PNG file without data beyond the last pixel; nil if pixels are missing
// or damaged.
func withoutExcess(header, pixels []byte) []byte {
	if len(header) != 13 {
		return nil
	}
	from, err := zlib.NewReader(bytes.NewReader(pixels))
	if err != nil {
		return nil
	}
	var out bytes.Buffer
	to, _ := zlib.NewWriterLevel(&out, zlib.BestSpeed) // the level is valid
	if _, err := io.CopyN(to, from, filteredLength(header)); err != nil {
		return nil
	}
	_ = to.Close() // writes to memory do not fail
	return out.Bytes()
}

// filteredLength returns the length of the uncompressed pixels of a PNG file with a header: each row of each pass has a
// byte for its filter.
func filteredLength(header []byte) (length int64) {
	width, height := int64(binary.BigEndian.Uint32(header)), int64(binary.BigEndian.Uint32(header[4:]))
	samples := map[byte]int64{2: 3, 4: 2, 6: 4}[header[9]] // by color type; others have one sample for each pixel
	bits := max(samples, 1) * int64(header[8])
	// The first column and row of each pass, and the distance to the next ones.
	passes := [][4]int64{{0, 0, 1, 1}}
	if header[12] != 0 {
		passes = [][4]int64{
			{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2},
		}
	}
	for _, p := range passes {
		columns, rows := (width-p[0]+p[2]-1)/p[2], (height-p[1]+p[3]-1)/p[3]
		if columns > 0 && rows > 0 {
			length += rows * (1 + (columns*bits+7)/8)
		}
	}
	return length
}

// appendChunk appends a chunk of a PNG file.
func appendChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data))) //nolint:gosec // less than the file
	start := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
}
