package jpeg

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// picture is an image as coefficients of blocks, which the encoder of the tests can write in many layouts.
type picture struct {
	width, height int
	planes        []pictured
	quantization  [4][64]uint16
	// application is written after SOI.
	application []byte
}

// pictured is a component of a picture.
type pictured struct {
	id, tables           byte
	horizontal, vertical int
	// stride is the number of blocks in a row, in whole MCUs. columns and rows exclude blocks beyond the edge.
	stride, columns, rows int
	// blocks are quantized coefficients in zigzag order.
	blocks [][64]int
}

// layout describes how a picture is written.
type layout struct {
	frame    byte
	interval int
	scans    []pass
	// skew replaces the counts of symbols, for tables that are not optimal.
	skew func(symbol byte, count int) int
	// longestRun limits the runs of blocks without coefficients.
	longestRun int
	// restarts contains replacements for restart markers, by number.
	restarts map[int][]byte
}

// pass is a scan: the numbers of its components, a band, and the written bits of coefficients.
type pass struct {
	components               []int
	first, last, before, low int
}

// newPicture transforms samples. Samples beyond the edge repeat the edge, as in other encoders.
func newPicture(width, height int, planes []pictured, quantization [4][64]uint16,
	sample func(component, x, y int) float64,
) *picture {
	p := &picture{width: width, height: height, planes: planes, quantization: quantization}
	h, v := planes[0].horizontal, planes[0].vertical
	if len(planes) == 1 {
		h, v = 1, 1
	}
	var cosines [8][8]float64
	for u := range 8 {
		for x := range 8 {
			cosines[u][x] = math.Cos(float64((2*x+1)*u)*math.Pi/16) / 2
			if u == 0 {
				cosines[u][x] /= math.Sqrt2
			}
		}
	}
	for i := range planes {
		c := &planes[i]
		if len(planes) == 1 {
			c.horizontal, c.vertical = 1, 1
		}
		c.stride = ceil(width, 8*h) * c.horizontal
		c.columns, c.rows = ceil(ceil(width*c.horizontal, h), 8), ceil(ceil(height*c.vertical, v), 8)
		c.blocks = make([][64]int, c.stride*ceil(height, 8*v)*c.vertical)
		plane := make([]float64, ceil(width*c.horizontal, h)*ceil(height*c.vertical, v))
		side := ceil(width*c.horizontal, h)
		for at := range plane {
			plane[at] = min(255, max(0, math.Round(sample(i, at%side, at/side)))) - 128
		}
		for b := range c.blocks {
			var samples, between [64]float64
			for at := range samples {
				x, y := min(b%c.stride*8+at%8, side-1), min(b/c.stride*8+at/8, len(plane)/side-1)
				samples[at] = plane[y*side+x]
			}
			for at := range between {
				for x := range 8 {
					between[at] += samples[at/8*8+x] * cosines[at%8][x]
				}
			}
			for k, at := range zigzag {
				var sum float64
				for y := range 8 {
					sum += between[y*8+at%8] * cosines[at/8][y]
				}
				c.blocks[b][k] = int(math.Round(sum / float64(quantization[c.tables][k])))
			}
		}
	}
	return p
}

// encode writes the picture.
func (p *picture) encode(l layout) []byte {
	out := append([]byte{0xff, startOfImage}, p.application...)
	for i, table := range p.quantization {
		body := []byte{byte(i)}
		if slices.Max(table[:]) > 255 {
			body[0] |= 0x10
		}
		for _, q := range table {
			if body[0] > 3 {
				body = append(body, byte(q>>8))
			}
			body = append(body, byte(q))
		}
		out = append(out, segment(quantizationTables, body...)...)
	}
	body := binary.BigEndian.AppendUint16([]byte{8}, uint16(p.height))
	body = append(binary.BigEndian.AppendUint16(body, uint16(p.width)), byte(len(p.planes)))
	for _, c := range p.planes {
		body = append(body, c.id, byte(c.horizontal<<4|c.vertical), c.tables)
	}
	out = append(out, segment(l.frame, body...)...)
	if l.interval > 0 {
		out = append(out, segment(restartInterval, byte(l.interval>>8), byte(l.interval))...)
	}
	for _, s := range l.scans {
		w := scanWriter{pass: s, layout: l}
		w.write(p)
		out = append(out, w.tables()...)
		body = []byte{byte(len(s.components))}
		for _, i := range s.components {
			tables := p.planes[i].tables
			body = append(body, p.planes[i].id, tables<<4|tables)
		}
		body = append(body, byte(s.first), byte(s.last), byte(s.before<<4|s.low))
		out = append(append(out, segment(startOfScan, body...)...), w.bytes()...)
	}
	return append(out, 0xff, endOfImage)
}

// event is a symbol of a table, bits, or a restart marker.
type event struct {
	table   int // without: -1
	symbol  byte
	bits, n int
	restart bool
}

// scanWriter collects the events of a scan, and writes them with optimal tables.
type scanWriter struct {
	pass
	layout
	events []event
	codes  [8][256]struct{ code, length int }

	predicted [4]int
	// run is the number of pending blocks without further coefficients, and bits contains their bits.
	run, runTable int
	bits          []event
}

func (w *scanWriter) write(p *picture) {
	first := p.planes[w.components[0]]
	columns, mcus := first.columns, first.columns*first.rows
	if len(w.components) > 1 {
		columns, mcus = first.stride/first.horizontal, len(first.blocks)/first.horizontal/first.vertical
	}
	for mcu := range mcus {
		if w.interval > 0 && mcu > 0 && mcu%w.interval == 0 {
			w.flush()
			w.predicted = [4]int{}
			w.events = append(w.events, event{restart: true, n: mcu/w.interval - 1})
		}
		x, y := mcu%columns, mcu/columns
		for _, i := range w.components {
			c := &p.planes[i]
			if len(w.components) == 1 {
				w.block(i, int(c.tables), &c.blocks[y*c.stride+x])
				continue
			}
			for b := range c.horizontal * c.vertical {
				at := (y*c.vertical+b/c.horizontal)*c.stride + x*c.horizontal + b%c.horizontal
				w.block(i, int(c.tables), &c.blocks[at])
			}
		}
	}
	w.flush()
}

func (w *scanWriter) block(component, table int, block *[64]int) {
	k := w.first
	if k == 0 {
		value := block[0] >> w.low
		if w.before > 0 {
			w.events = append(w.events, event{table: -1, bits: value & 1, n: 1})
			return
		}
		w.value(table, 0, value-w.predicted[component])
		w.predicted[component] = value
		k++
	}
	w.runTable = 4 + table
	switch {
	case k > w.last:
	case w.before > 0:
		w.refine(block)
	default:
		w.band(k, block)
	}
}

// value adds a symbol with a value.
func (w *scanWriter) value(table, zeros, value int) {
	size, bits := 0, value
	for max(value, -value)>>size != 0 {
		size++
	}
	if value < 0 {
		bits += 1<<size - 1
	}
	w.events = append(w.events, event{table: table, symbol: byte(zeros<<4 | size), bits: bits, n: size})
}

func shifted(value, low int) int {
	if value < 0 {
		return -(-value >> low)
	}
	return value >> low
}

func (w *scanWriter) band(k int, block *[64]int) {
	zeros := 0
	for ; k <= w.last; k++ {
		value := shifted(block[k], w.low)
		if value == 0 {
			zeros++
			continue
		}
		w.flush()
		for ; zeros > 15; zeros -= 16 {
			w.value(w.runTable, 15, 0)
		}
		w.value(w.runTable, zeros, value)
		zeros = 0
	}
	if zeros > 0 {
		w.end()
	}
}

func (w *scanWriter) refine(block *[64]int) {
	end := -1 // of new coefficients
	for k := w.first; k <= w.last; k++ {
		if value := shifted(block[k], w.low); value == 1 || value == -1 {
			end = k
		}
	}
	zeros := 0
	var passed []event
	for k := w.first; k <= w.last; k++ {
		value := shifted(block[k], w.low)
		if value == 0 {
			zeros++
			continue
		}
		for ; zeros > 15 && k <= end; zeros -= 16 {
			w.flush()
			w.value(w.runTable, 15, 0)
			w.events, passed = append(w.events, passed...), nil
		}
		if value != 1 && value != -1 {
			passed = append(passed, event{table: -1, bits: max(value, -value) & 1, n: 1})
			continue
		}
		w.flush()
		w.value(w.runTable, zeros, value)
		w.events, passed, zeros = append(w.events, passed...), nil, 0
	}
	if zeros > 0 || len(passed) > 0 {
		w.bits = append(w.bits, passed...)
		w.end()
	}
}

func (w *scanWriter) end() {
	w.run++
	if w.frame != progressiveFrame || w.run == max(w.longestRun, 1) {
		w.flush()
	}
}

func (w *scanWriter) flush() {
	if w.run > 0 {
		size := 0
		for w.run>>size > 1 {
			size++
		}
		w.events = append(w.events, event{table: w.runTable, symbol: byte(size << 4), bits: w.run - 1<<size, n: size})
	}
	w.events = append(w.events, w.bits...)
	w.run, w.bits = 0, nil
}

// tables returns the segments of the tables that the events need.
func (w *scanWriter) tables() (out []byte) {
	var counts [8][256]int
	for _, e := range w.events {
		if e.table >= 0 && !e.restart {
			counts[e.table][e.symbol]++
		}
	}
	for table := range counts {
		for symbol, count := range counts[table] {
			if count > 0 && w.skew != nil {
				counts[table][symbol] = w.skew(byte(symbol), count)
			}
		}
		lengths, symbols := codeLengths(counts[table])
		if len(symbols) == 0 {
			continue
		}
		code, at := 0, 0
		for i, n := range lengths {
			for range n {
				w.codes[table][symbols[at]] = struct{ code, length int }{code, i + 1}
				code, at = code+1, at+1
			}
			code <<= 1
		}
		body := append([]byte{byte(table>>2<<4 | table&3)}, lengths[:]...)
		out = append(out, segment(huffmanTables, append(body, symbols...)...)...)
	}
	return out
}

// bytes returns the entropy-coded segments.
func (w *scanWriter) bytes() []byte {
	var out bytes.Buffer
	reservoir, count := 0, 0
	put := func(bits, n int) {
		for i := n - 1; i >= 0; i-- {
			reservoir, count = reservoir<<1|bits>>i&1, count+1
			if count == 8 {
				out.WriteByte(byte(reservoir))
				if reservoir == 0xff {
					out.WriteByte(0)
				}
				reservoir, count = 0, 0
			}
		}
	}
	for _, e := range w.events {
		if e.restart {
			put(0x7f, (8-count)%8)
			if other, ok := w.restarts[e.n]; ok {
				out.Write(other)
			} else {
				out.Write([]byte{0xff, firstRestart + byte(e.n%8)})
			}
			continue
		}
		if e.table >= 0 {
			code := w.codes[e.table][e.symbol]
			put(code.code, code.length)
		}
		put(e.bits, e.n)
	}
	put(0x7f, (8-count)%8)
	return out.Bytes()
}
