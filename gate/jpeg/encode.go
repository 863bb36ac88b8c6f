package jpeg

import (
	"bytes"
	"encoding/binary"
	"image"
	standard "image/jpeg"
	"math/bits"
	"slices"
)

// Encode returns an image as a baseline file, with a quality from 1 to 100. The pixels are the same as in a file of
// image/jpeg, but the Huffman tables are optimal for the image, which saves 2 % of the bytes of a detailed image and 25
// % of a smooth one.
func Encode(img image.Image, quality int) ([]byte, error) {
	var file bytes.Buffer
	if err := standard.Encode(&file, img, &standard.Options{Quality: quality}); err != nil {
		return nil, err
	}
	return optimize(file.Bytes()), nil
}

// optimize replaces the Huffman tables of a file that image/jpeg has written. It decodes the symbols twice, because
// storing them would need more memory than the pixels.
func optimize(file []byte) []byte {
	d := decoder{reader: reader{data: file, position: 2}}
	var tables, header int // positions of the last two segments
	var body []byte
	for marker, ok := byte(0), true; ok && marker != startOfScan; {
		tables, header = header, d.position
		marker, _ = d.nextMarker()
		if body, ok = d.segment(); ok && marker != startOfScan {
			_ = d.readSegment(marker, body)
		}
	}
	s, data := d.newScan(body), d.position

	var counts [tableCount][256]int
	d.eachSymbol(s, func(table int, symbol byte, _ uint64, _ uint) { counts[table][symbol]++ })
	w := writer{data: append(make([]byte, 0, len(file)), file[:tables]...)}
	var codes [tableCount][256]code
	w.data = append(w.data, segment(huffmanTables, newCodes(&codes, counts)...)...)
	w.data = append(w.data, file[header:data]...)
	d.position = data
	d.eachSymbol(s, func(table int, symbol byte, value uint64, size uint) {
		c := codes[table][symbol]
		w.write(c.bits<<size|value, c.length+size)
	})
	w.write(0x7f, 7) // up to a whole byte
	return append(w.data, 0xff, endOfImage)
}

// tableCount is the number of Huffman tables: DC for luma and chroma, then AC for both.
const tableCount = 4

// eachSymbol calls visit for each symbol of a scan, with the symbol's table and the bits of the value that follows.
func (d *decoder) eachSymbol(s *scan, visit func(table int, symbol byte, value uint64, size uint)) {
	next := func(from *table, table int) (run int, value int32) {
		run, value = d.next(from)
		size := bits.Len32(uint32(max(value, -value)))     //nolint:gosec // not negative
		coded := uint64(value+value>>31) & (1<<size - 1)   //nolint:gosec // only the low bits are used
		visit(table, byte(run<<4|size), coded, uint(size)) //nolint:gosec // two times four bits
		return run, value
	}
	s.decode = func(c *component, _, _ int) {
		kind := 0
		if c != d.components[0] {
			kind = 1
		}
		next(c.dc, kind)
		for k := 1; k < 64; k++ {
			run, value := next(c.ac, 2+kind)
			if value == 0 && run < 15 {
				return
			}
			k += run
		}
	}
	d.decodeInterval(s, 0, d.columns*d.rows, d.columns)
}

// segment returns a segment with its marker.
func segment(marker byte, body ...byte) []byte {
	length := uint16(len(body) + 2) //nolint:gosec // four tables have less than 1 KiB
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, length), body...)
}

// code is the code of a symbol.
type code struct {
	bits   uint64
	length uint
}

// newCodes assigns codes to all symbols that occur, and returns the content of the segment with their tables (B.2.4.2).
func newCodes(codes *[tableCount][256]code, counts [tableCount][256]int) (body []byte) {
	for table := range counts {
		lengths, symbols := codeLengths(counts[table])
		if len(symbols) == 0 {
			continue
		}
		kind := byte(table>>1<<4 | table&1) //nolint:gosec // a table is less than four
		body = slices.Concat(body, []byte{kind}, lengths[:], symbols)
		var next uint64
		for i, n := range lengths {
			for range n {
				codes[table][symbols[0]] = code{next, uint(i + 1)}
				next, symbols = next+1, symbols[1:]
			}
			next <<= 1
		}
	}
	return body
}

// codeLengths returns an optimal Huffman code: the number of codes of each length, and the symbols in the order of their
// codes. As the format requires, no code consists of ones only or has more than 16 bits (K.2).
func codeLengths(counts [256]int) (lengths [16]byte, symbols []byte) {
	type node struct {
		count   int
		symbols []byte
	}
	descending := func(a, b node) int { return b.count - a.count }
	nodes := []node{{count: 1}} // reserves the code that consists of ones only
	for symbol, count := range counts {
		if count > 0 {
			nodes = append(nodes, node{count, []byte{byte(symbol)}})
		}
	}
	slices.SortFunc(nodes, descending)
	var length [256]int
	for len(nodes) > 1 {
		rest, a, b := nodes[:len(nodes)-2], nodes[len(nodes)-2], nodes[len(nodes)-1]
		merged := node{a.count + b.count, slices.Concat(a.symbols, b.symbols)}
		for _, symbol := range merged.symbols {
			length[symbol]++
		}
		at, _ := slices.BinarySearchFunc(rest, merged, descending)
		nodes = slices.Insert(rest, at, merged)
	}
	if slices.Max(length[:]) > len(lengths) { // flatter counts have shorter codes
		for symbol := range counts {
			counts[symbol] = (counts[symbol] + 1) / 2
		}
		return codeLengths(counts)
	}
	for n := range lengths {
		for symbol := range length {
			if length[symbol] == n+1 {
				lengths[n]++
				symbols = append(symbols, byte(symbol))
			}
		}
	}
	return lengths, symbols
}

// writer writes entropy-coded data.
type writer struct {
	data      []byte
	reservoir uint64
	count     uint
}

// write appends at most 32 bits. A zero follows each 0xff, which would start a marker otherwise.
func (w *writer) write(bits uint64, n uint) {
	w.reservoir, w.count = w.reservoir<<n|bits, w.count+n
	for ; w.count >= 8; w.count -= 8 {
		next := byte(w.reservoir >> (w.count - 8)) //nolint:gosec // only the low bits are used
		w.data = append(w.data, next)
		if next == 0xff {
			w.data = append(w.data, 0)
		}
	}
}
