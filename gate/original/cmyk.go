package original

import (
	"encoding/binary"
	"image"
	"math"
)

const (
	inks, channels = 4, 3
	// maxCMYKProfile bounds the time to read a profile. Typical profiles have half a megabyte, with 9 to 17 nodes for
	// each ink.
	maxCMYKProfile = 4 << 20
	// CMYKProfileMemory is the memory for each byte of a CMYK profile while it is read.
	CMYKProfileMemory = 10
)

// CMYKProfile converts CMYK to sRGB with the table A2B0 (perceptual rendering) of an ICC profile.
type CMYKProfile struct {
	// inputs contains, for each ink and amount, the node below the amount and the distance from that node.
	inputs [inks][256]struct {
		node     int
		distance float32
	}
	// steps are the distances between adjacent nodes in nodes, by ink.
	steps [inks]int
	// nodes are red, green and blue from 0 to 255, or beyond for colors outside of sRGB.
	nodes [][channels]float32
}

// CMYK returns the profile of a CMYK file, or nil if it has no usable profile.
func CMYK(body []byte) *CMYKProfile {
	profile, _ := embedded(body)
	if len(profile) < 132 || len(profile) > maxCMYKProfile || string(profile[16:20]) != "CMYK" {
		return nil
	}
	toPCS := light
	switch string(profile[20:24]) {
	case "Lab ":
		toPCS = labOf
	case "XYZ ":
	default:
		return nil
	}
	entries := profile[132:]
	for range binary.BigEndian.Uint32(profile[128:]) {
		if len(entries) < 12 {
			break
		}
		if string(entries[:4]) == "A2B0" {
			start, length := uint64(binary.BigEndian.Uint32(entries[4:])), uint64(binary.BigEndian.Uint32(entries[8:]))
			if start+length > uint64(len(profile)) {
				return nil
			}
			return newCMYK(profile[start:start+length], toPCS)
		}
		entries = entries[12:]
	}
	return nil
}

// newCMYK reads a table of type lut8 or lut16. It returns nil for other types and malformed tables.
func newCMYK(table []byte, toPCS func(values vector, wide bool) vector) *CMYKProfile {
	if len(table) < 52 || table[8] != inks || table[9] != channels || table[10] < 2 {
		return nil
	}
	row, first, last, rest, wide := int(table[10]), 256, 256, table[48:], false
	switch string(table[:4]) {
	case "mft1":
	case "mft2":
		wide = true
		first, last = int(binary.BigEndian.Uint16(table[48:])), int(binary.BigEndian.Uint16(table[50:]))
		rest = table[52:]
	default:
		return nil
	}
	count := row * row * row * row
	values := numbers(rest, wide)
	if first < 2 || last < 2 || len(values) < inks*first+channels*(count+last) {
		return nil
	}
	c := &CMYKProfile{nodes: make([][channels]float32, count)}
	for ink, step := range [inks]int{row * row * row, row * row, row, 1} {
		c.steps[ink] = step
		curve := values[ink*first : (ink+1)*first]
		for amount := range c.inputs[ink] {
			at := float64(interpolate(curve, float32(amount)/255)) * float64(row-1)
			node := min(int(at), row-2)
			c.inputs[ink][amount].node, c.inputs[ink][amount].distance = node*step, float32(at-float64(node))
		}
	}
	values = values[inks*first:]
	curves := values[channels*count:]
	for i := range c.nodes {
		var out vector
		for k := range out {
			out[k] = float64(interpolate(curves[k*last:(k+1)*last], values[channels*i+k]))
		}
		c.nodes[i] = screen(toPCS(out, wide))
	}
	return c
}

// numbers maps bytes, or pairs of bytes if wide, to 0…1.
func numbers(data []byte, wide bool) (out []float32) {
	if !wide {
		for _, b := range data {
			out = append(out, float32(b)/255)
		}
		return out
	}
	for ; len(data) >= 2; data = data[2:] {
		out = append(out, float32(binary.BigEndian.Uint16(data))/65535)
	}
	return out
}

// interpolate returns the value of a curve at a position from 0 to 1.
func interpolate(curve []float32, at float32) float32 {
	at *= float32(len(curve) - 1)
	i := min(int(at), len(curve)-2)
	return curve[i] + (curve[i+1]-curve[i])*(at-float32(i))
}

// light decodes XYZ values, which are encoded from 0 to almost 2.
func light(v vector, _ bool) vector {
	for i := range v {
		v[i] *= 1 + 32767./32768
	}
	return v
}

// labOf decodes a color in CIE L*a*b* and converts it to XYZ.
func labOf(v vector, wide bool) vector {
	lightness, a, b := v[0]*100, v[1]*255-128, v[2]*255-128
	if wide { // 0xff00 is 100
		lightness, a, b = v[0]*100*65535/65280, v[1]*65535/256-128, v[2]*65535/256-128
	}
	y := (lightness + 16) / 116
	v = vector{y + a/500, y, y - b/200}
	for i, root := range v {
		if v[i] = root * root * root; root <= 6./29 {
			v[i] = (root - 4./29) * 108 / 841
		}
		v[i] *= d50[i]
	}
	return v
}

// toSRGB converts XYZ values to linear red, green and blue.
var toSRGB = func() matrix {
	columns, _ := sRGB.colorants()
	inverse, _ := columns.inverse()
	return inverse
}()

// screen converts XYZ values to red, green and blue from 0 to 255, or beyond.
func screen(xyz vector) (out [channels]float32) {
	for i, linear := range toSRGB.times(xyz) {
		value := 12.92 * linear
		if math.Abs(linear) > .0031308 {
			value = math.Copysign(1.055*math.Pow(math.Abs(linear), 1/2.4)-.055, linear)
		}
		out[i] = float32(value * 255)
	}
	return out
}

// Convert fills an image with the converted colors of another image of the same size. It interpolates between the five
// nodes around a color.
func (c *CMYKProfile) Convert(to *image.RGBA, from *image.CMYK) {
	width := from.Rect.Dx()
	for y := range from.Rect.Dy() {
		line, out := from.Pix[y*from.Stride:][:inks*width], to.Pix[y*to.Stride:][:4*width]
		for ; len(line) > 0; line, out = line[inks:], out[4:] {
			c.convert(out[:4:4], line[:inks:inks])
		}
	}
}

func (c *CMYKProfile) convert(to, from []byte) {
	var order [inks]int
	var distances [inks]float32
	at := 0
	for ink, amount := range from {
		input := &c.inputs[ink][amount]
		at += input.node
		distances[ink] = input.distance
		place := ink
		for ; place > 0 && distances[order[place-1]] < input.distance; place-- {
			order[place] = order[place-1]
		}
		order[place] = ink
	}
	rest, sum := float32(1), [channels]float32{}
	for i := range inks + 1 {
		next := float32(0)
		if i < inks {
			next = distances[order[i]]
		}
		node := &c.nodes[at]
		for k := range sum {
			sum[k] += (rest - next) * node[k]
		}
		if i < inks {
			at += c.steps[order[i]]
		}
		rest = next
	}
	for k, value := range sum {
		to[k] = byte(min(max(value+.5, 0), 255))
	}
	to[3] = 255
}
