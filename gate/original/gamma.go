package original

import (
	"encoding/binary"
	"math"
)

// colors are the color chunks of a PNG file without a profile.
type colors struct {
	// named is set by the chunk sRGB, which takes precedence over other chunks.
	named, gray bool
	// gamma is the encoding exponent; zero if unset.
	gamma float64
	// white and the primaries are chromaticities.
	white, red, green, blue [2]float64
}

// sRGB are the default colors.
var sRGB = colors{
	white: [2]float64{.3127, .3290}, red: [2]float64{.64, .33}, green: [2]float64{.3, .6}, blue: [2]float64{.15, .06},
}

// add reads a color chunk.
func (c *colors) add(kind string, data []byte) {
	number := func(i int) float64 { return float64(binary.BigEndian.Uint32(data[4*i:])) / 100_000 }
	switch {
	case kind == "IHDR" && len(data) == 13:
		c.gray = data[9] == 0
	case kind == "sRGB":
		c.named = true
	case kind == "gAMA" && len(data) == 4:
		c.gamma = number(0)
	case kind == "cHRM" && len(data) == 32:
		for i, to := range []*[2]float64{&c.white, &c.red, &c.green, &c.blue} {
			*to = [2]float64{number(2 * i), number(2*i + 1)}
		}
	}
}

// isSRGB reports whether the difference to sRGB is invisible.
func (c *colors) isSRGB() bool {
	differs := math.Abs(c.gamma-1/2.2) > .01
	for i, of := range [][2]float64{c.white, c.red, c.green, c.blue} {
		want := [][2]float64{sRGB.white, sRGB.red, sRGB.green, sRGB.blue}[i]
		differs = differs || !c.gray && (math.Abs(of[0]-want[0]) > .002 || math.Abs(of[1]-want[1]) > .002)
	}
	return c.named || !differs
}

// profile returns an ICC profile (version 2); nil for sRGB and for invalid colors.
func (c *colors) profile() []byte {
	if c.gamma < .1 || c.gamma > 10 || c.isSRGB() {
		return nil
	}
	curve := binary.BigEndian.AppendUint16([]byte("curv\x00\x00\x00\x00\x00\x00\x00\x01"), uint16(256/c.gamma+.5))
	tags := []tag{
		{"desc", append([]byte("desc\x00\x00\x00\x00\x00\x00\x00\x04PNG\x00"), make([]byte, 78)...)},
		{"cprt", []byte("text\x00\x00\x00\x00CC0\x00")},
		{"wtpt", xyz(d50)},
	}
	if c.gray {
		return iccOf("GRAY", append(tags, tag{"kTRC", curve}))
	}
	columns, ok := c.colorants()
	if !ok {
		return nil
	}
	for i, name := range []string{"r", "g", "b"} {
		tags = append(tags, tag{name + "XYZ", xyz(columns[i])}, tag{name + "TRC", curve})
	}
	return iccOf("RGB ", tags)
}

type tag struct {
	name string
	data []byte
}

// d50 is the white point of ICC profiles.
var d50 = vector{.9642, 1, .8249}

// xyz encodes a value as the type XYZ of ICC profiles.
func xyz(v vector) []byte {
	out := []byte("XYZ \x00\x00\x00\x00")
	for _, x := range v {
		out = binary.BigEndian.AppendUint32(out, uint32(int32(math.Round(x*65536)))) //nolint:gosec // may be negative
	}
	return out
}

// iccOf returns a profile file with some tags.
func iccOf(space string, tags []tag) []byte {
	header := make([]byte, 128)
	copy(header[8:], "\x02\x10\x00\x00mntr"+space+"XYZ \x07\xea\x00\x01\x00\x01")
	copy(header[36:], "acsp")
	copy(header[68:], xyz(d50)[8:])
	table := binary.BigEndian.AppendUint32(nil, uint32(len(tags))) //nolint:gosec // nine
	var data []byte
	for _, t := range tags {
		table = append(table, t.name...)
		table = binary.BigEndian.AppendUint32(table, uint32(128+4+12*len(tags)+len(data))) //nolint:gosec // below 1 kB
		table = binary.BigEndian.AppendUint32(table, uint32(len(t.data)))                  //nolint:gosec // below 1 kB
		data = append(data, t.data...)
		data = append(data, make([]byte, -len(data)&3)...)
	}
	file := append(append(header, table...), data...)
	binary.BigEndian.PutUint32(file, uint32(len(file))) //nolint:gosec // below 1 kB
	return file
}

type vector [3]float64

// matrix is a list of columns.
type matrix [3]vector

func (m matrix) times(v vector) (out vector) {
	for row := range out {
		out[row] = m[0][row]*v[0] + m[1][row]*v[1] + m[2][row]*v[2]
	}
	return out
}

func cross(a, b vector) vector {
	return vector{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// inverse returns false for a singular matrix.
func (m matrix) inverse() (out matrix, ok bool) {
	first := cross(m[1], m[2])
	determinant := m[0][0]*first[0] + m[0][1]*first[1] + m[0][2]*first[2]
	for row, values := range [3]vector{first, cross(m[2], m[0]), cross(m[0], m[1])} {
		for column := range values {
			out[column][row] = values[column] / determinant
		}
	}
	return out, math.Abs(determinant) > 1e-6
}

// bradford is the Bradford matrix for chromatic adaptation.
var bradford = matrix{{.8951, -.7502, .0389}, {.2664, 1.7135, -.0685}, {-.1614, .0367, 1.0296}}

// colorants returns the primaries adapted to the white point of ICC profiles.
func (c *colors) colorants() (columns matrix, ok bool) {
	light := func(of [2]float64) vector { return vector{of[0] / of[1], 1, (1 - of[0] - of[1]) / of[1]} }
	if c.white[1] == 0 || c.red[1] == 0 || c.green[1] == 0 || c.blue[1] == 0 {
		return columns, false
	}
	white, primaries := light(c.white), matrix{light(c.red), light(c.green), light(c.blue)}
	inverse, ok := primaries.inverse()
	back, _ := bradford.inverse()
	amounts, from, to := inverse.times(white), bradford.times(white), bradford.times(d50)
	for i := range columns {
		cones := bradford.times(primaries[i])
		for k := range cones {
			cones[k] *= amounts[i] * to[k] / from[k]
		}
		columns[i] = back.times(cones)
		for _, x := range columns[i] {
			ok = ok && math.Abs(x) < 4
		}
	}
	return columns, ok
}

// isScreen reports whether a cICP chunk contains the colors of BT.709 or sRGB, and not the colors of films.
func isScreen(data []byte) bool {
	return len(data) == 4 && data[0] == 1 && (data[1] == 1 || data[1] == 13)
}
