package jpeg

// lookup is the number of bits that index a table. Most codes fit, together with their values.
const lookup = 10

// table decodes Huffman codes.
type table struct {
	entries [1 << lookup]entry
	skips   [1 << lookup]skip
	// limits and offsets decode longer codes: a code with n bits, left-aligned in 16 bits, is less than limits[n],
	// and its symbol is at the code plus offsets[n].
	limits  [17]uint32
	offsets [17]int32
	symbols [256]byte
}

// entry is the result of a lookup: a code with its value, a code without its value, or none.
type entry uint32

func valueEntry(value int32, symbol byte, length uint) entry {
	return entry(uint32(value)<<16 | uint32(symbol>>4)<<8 | uint32(length)) //nolint:gosec // at most 10 bits
}

func codeEntry(symbol byte, length uint) entry {
	return entry(uint32(symbol)<<8 | uint32(length)) //nolint:gosec // at most 10 bits
}

// value is the decoded value; zero if the entry has none.
func (e entry) value() int32 { return int32(e) >> 16 } //nolint:gosec // the sign is meant

// run is the number of zeros before the value.
func (e entry) run() int { return int(e >> 8 & 15) }

// length is the number of bits of the code and of its value if there is one; 0 for longer codes.
func (e entry) length() uint { return uint(e & 63) }

// symbol is the symbol of an entry without a value.
func (e entry) symbol() byte { return byte(e >> 8) } //nolint:gosec // only the lower bits are used

// skip contains the number of coefficients, and the number of bits, of all codes that are complete in the indexed bits.
type skip uint16

const endOfBlock skip = 1 << 15

func (s skip) length() uint { return uint(s & 15) }
func (s skip) zigzag() int  { return int(s >> 4 & 127) }

// newTable returns a table for the number of codes of each length, and their symbols. Impossible codes are omitted.
func newTable(counts, symbols []byte) *table {
	t := new(table)
	copy(t.symbols[:], symbols)
	code, index := 0, 0
	for length := 1; length <= 16; length++ {
		t.offsets[length] = int32(index - code)
		end := min(code+int(counts[length-1]), 1<<length, code+len(symbols)-index)
		for ; code < end; code, index = code+1, index+1 {
			if length <= lookup {
				t.enter(code, uint(length), symbols[index])
			}
		}
		t.limits[length] = uint32(code) << (16 - length)
		code <<= 1
	}
	for i := range t.skips {
		t.skips[i] = t.skipOf(i)
	}
	return t
}

// enter adds the entries for all bits that start with a code.
func (t *table) enter(code int, length uint, symbol byte) {
	free := lookup - length
	size := uint(symbol & 15)
	for rest := range 1 << free {
		e := codeEntry(symbol, length)
		if size > 0 && size <= free {
			e = valueEntry(extend(uint64(rest)<<(64-free), size), symbol, length+size)
		}
		t.entries[code<<free|rest] = e
	}
}

// skipOf returns the skip for some bits.
func (t *table) skipOf(bits int) skip {
	var length uint
	zigzag := 0
	for {
		e := t.entries[bits<<length&(1<<lookup-1)]
		if e == 0 || length+e.length() > lookup {
			break
		}
		next := 16
		switch symbol := e.symbol(); {
		case e.value() != 0:
			next = e.run() + 1
		case symbol&15 != 0:
			next = 64 // the value is incomplete
		case symbol != zeroRun:
			return skip(length+e.length()) | skip(zigzag)<<4 | endOfBlock //nolint:gosec // at most 10 and 63
		}
		if zigzag+next > 63 {
			break
		}
		zigzag += next
		length += e.length()
	}
	return skip(length) | skip(zigzag)<<4
}

// zeroRun is the symbol for 16 zeros.
const zeroRun = 0xf0

// next decodes a code and its value. The value is 0 for codes without one: zeroRun has run 15, and the end of a block
// has run 0.
func (r *reader) next(t *table) (run int, value int32) {
	if r.count < 32 {
		r.fill()
	}
	e := t.entries[r.reservoir>>(64-lookup)]
	if e.value() != 0 {
		r.drop(e.length())
		return e.run(), e.value()
	}
	symbol, length := e.symbol(), e.length()
	if length == 0 {
		symbol, length = t.find(uint32(r.reservoir >> 48))
	}
	r.drop(length)
	if size := uint(symbol & 15); size != 0 {
		value = extend(r.reservoir, size)
		r.drop(size)
	}
	return int(symbol >> 4), value
}

// find decodes a code that is longer than lookup, from the start of 16 bits. Codes that do not exist are symbol 0.
func (t *table) find(bits uint32) (symbol byte, length uint) {
	for length = lookup + 1; length <= 16; length++ {
		if bits < t.limits[length] {
			return t.symbols[byte(int32(bits>>(16-length))+t.offsets[length])], length //nolint:gosec // 16 bits
		}
	}
	return 0, 16
}

// extend returns the signed value of the first size bits, 1 to 15. Values that start with 0 are negative (F.2.2.1).
func extend(reservoir uint64, size uint) int32 {
	value := int32(reservoir >> (64 - size&63))                           //nolint:gosec // at most 15 bits
	return value + int32(^(int64(reservoir)>>63))&(1-int32(1)<<(size&31)) //nolint:gosec // a mask
}
