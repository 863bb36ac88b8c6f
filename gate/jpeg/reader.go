package jpeg

import (
	"bytes"
	"encoding/binary"
)

// reader reads a file. In entropy-coded segments, which end at a marker, it keeps the next bits in a reservoir. After
// the end of a segment it returns zeros.
type reader struct {
	data []byte
	// position of the next byte that is not in the reservoir.
	position int
	// reservoir contains the next bits, most significant first. The first count bits are valid; the rest are zero or
	// equal to the following bits of the file.
	reservoir uint64
	count     uint
	// padding is the number of bits that were added after the end.
	padding uint
}

// start empties the reservoir.
func (r *reader) start() { r.reservoir, r.count, r.padding = 0, 0, 0 }

// overdrawn reports whether bits after the end were used.
func (r *reader) overdrawn() bool { return r.count < r.padding }

// fill fills the reservoir to at least 56 bits.
func (r *reader) fill() {
	if r.position+8 <= len(r.data) {
		next := binary.BigEndian.Uint64(r.data[r.position:])
		const lowest, highest = 0x0101010101010101, 0x8080808080808080
		if (^next-lowest)&next&highest == 0 { // no byte is 0xff
			r.reservoir |= next >> (r.count & 63)
			r.position += int((63 - r.count) >> 3 & 7)
			r.count |= 56
			return
		}
	}
	r.fillSlowly()
}

// fillSlowly fills the reservoir byte by byte. A zero after 0xff is skipped: it marks 0xff as data.
func (r *reader) fillSlowly() {
	for ; r.count < 56; r.count += 8 {
		var next byte
		rest := r.data[min(r.position, len(r.data)):]
		switch {
		case len(rest) > 0 && rest[0] != 0xff:
			next = rest[0]
			r.position++
		case len(rest) > 1 && rest[1] == 0:
			next = 0xff
			r.position += 2
		default:
			r.padding += 8
		}
		r.reservoir |= uint64(next) << (56 - r.count)
	}
}

// take returns the next n bits, at most 16.
func (r *reader) take(n uint) uint32 {
	if r.count < 32 {
		r.fill()
	}
	value := r.reservoir >> 1 >> (63 - n&63)
	r.drop(n)
	return uint32(value) //nolint:gosec // at most 16 bits
}

// drop removes n bits, which must be in the reservoir.
func (r *reader) drop(n uint) {
	r.reservoir <<= n & 63
	r.count -= n
}

// nextMarker skips data until the next marker and returns it. 0xff in damaged data counts as data unless a valid
// marker follows.
func (r *reader) nextMarker() (marker byte, ok bool) {
	for {
		at := bytes.IndexByte(r.data[min(r.position, len(r.data)):], 0xff)
		if at < 0 || r.position+at+1 >= len(r.data) {
			r.position = len(r.data)
			return 0, false
		}
		r.position += at + 1
		if marker = r.data[r.position]; marker >= firstMarker && marker != 0xff {
			r.position++
			return marker, true
		}
	}
}
