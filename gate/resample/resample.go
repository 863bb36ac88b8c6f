// Package resample scales the planes of an image with a three-lobed Lanczos filter, which is widened for downscaling,
// as in ImageMagick and libvips. It scales the bytes as stored: gamma-encoded, with premultiplied alpha, and in the
// color space of the image, so that planes of a JPEG file need no conversion.
//
// Each row is scaled horizontally once and kept while the filter needs it, so that only a few rows are in memory in
// addition to the result.
package resample

import (
	"math"
	"slices"
)

// Plane is one component of an image, or all components interleaved.
type Plane struct {
	Pix                   []byte
	Stride, Width, Height int
	// Channels is the number of bytes for each pixel: 1, or 4 for *image.RGBA and *image.CMYK.
	Channels int
}

// Area is a part of a plane, in fractional pixels. If it ends before it starts, the result is mirrored.
type Area struct{ X0, Y0, X1, Y1 float64 }

const (
	lobes = 3
	// precision is the number of fractional bits of weights, and extra the number for intermediate values, which are
	// signed and overshoot.
	precision = 14
	extra     = 6
)

// Scale fills a plane with the scaled area of another plane, which must have the same number of channels. Pixels
// outside of the area are not used.
func Scale(to, from Plane, area Area) {
	columns := weigh(to.Width, from.Width, min(area.X0, area.X1), max(area.X0, area.X1))
	if area.X1 < area.X0 {
		slices.Reverse(columns.taps)
	}
	rows := weigh(to.Height, from.Height, min(area.Y0, area.Y1), max(area.Y0, area.Y1))
	length := to.Width * to.Channels
	kept := make([][]int16, rows.longest)
	for i := range kept {
		kept[i] = make([]int16, length)
	}
	sums := make([]int32, length)
	next := 0
	for y, r := range rows.taps {
		for next = max(next, r.first); next < r.first+len(r.weights); next++ {
			line := from.Pix[next*from.Stride:][:from.Width*from.Channels]
			if to.Channels == 1 {
				columns.single(kept[next%len(kept)], line)
			} else {
				columns.four(kept[next%len(kept)], line)
			}
		}
		clear(sums)
		for i, weight := range r.weights {
			add(sums, kept[(r.first+i)%len(kept)], weight)
		}
		if area.Y1 < area.Y0 {
			y = to.Height - 1 - y
		}
		line := to.Pix[y*to.Stride:][:length]
		for i, sum := range sums[:len(line)] {
			line[i] = clamp((sum + 1<<(precision+extra-1)) >> (precision + extra))
		}
	}
}

// add adds a weighted row to sums.
func add(sums []int32, row []int16, weight int32) {
	row = row[:len(sums)]
	for i := range sums {
		sums[i] += weight * int32(row[i])
	}
}

func clamp(value int32) byte {
	return byte(max(0, min(value, 255)))
}

// single scales a row of one-byte pixels.
func (w weights) single(to []int16, from []byte) {
	for x, t := range w.taps {
		var sum int32
		pixels := from[t.first:][:len(t.weights)]
		for i, weight := range t.weights {
			sum += weight * int32(pixels[i])
		}
		to[x] = round(sum)
	}
}

// four scales a row of four-byte pixels.
func (w weights) four(to []int16, from []byte) {
	for x, t := range w.taps {
		var a, b, c, d int32
		pixels := from[4*t.first:][:4*len(t.weights)]
		for i, weight := range t.weights {
			pixel := pixels[4*i:][:4:4]
			a += weight * int32(pixel[0])
			b += weight * int32(pixel[1])
			c += weight * int32(pixel[2])
			d += weight * int32(pixel[3])
		}
		pixel := to[4*x:][:4:4]
		pixel[0], pixel[1], pixel[2], pixel[3] = round(a), round(b), round(c), round(d)
	}
}

// round reduces a sum of weighted bytes to extra fractional bits.
func round(sum int32) int16 {
	return int16((sum + 1<<(precision-extra-1)) >> (precision - extra)) //nolint:gosec // about 256 << extra
}

// weights contains the filter for each pixel of a result, in one direction.
type weights struct {
	taps []tap
	// longest is the maximum number of weights of a pixel.
	longest int
}

// tap contains the weights of consecutive pixels.
type tap struct {
	first   int
	weights []int32
}

// weigh returns the weights for a number of result pixels, which cover the pixels from start to end out of a number of
// source pixels.
func weigh(pixels, others int, start, end float64) (w weights) {
	scale := (end - start) / float64(pixels)
	width := max(1, scale)
	lowest, highest := max(0, int(start)), min(others, int(math.Ceil(end)))
	exact := make([]float64, others)
	for i := range pixels {
		center := start + (float64(i)+0.5)*scale
		first := max(lowest, min(highest-1, int(math.Ceil(center-lobes*width-0.5))))
		last := max(first, min(highest-1, int(math.Floor(center+lobes*width-0.5))))
		exact, sum := exact[:last-first+1], 0.0
		for j := range exact {
			exact[j] = lanczos((float64(first+j) + 0.5 - center) / width)
			sum += exact[j]
		}
		t := tap{first: first, weights: make([]int32, len(exact))}
		// Rounding the running total instead of each weight ensures that the weights add up to 1.
		done, before := 0.0, int32(0)
		for j, weight := range exact {
			done += weight / sum
			until := int32(math.Round(done * (1 << precision)))
			t.weights[j], before = until-before, until
		}
		only := slices.IndexFunc(t.weights, isSet)
		if !slices.ContainsFunc(t.weights[only+1:], isSet) { // a copy, for example for an image that is only rotated
			t = tap{first: t.first + only, weights: t.weights[only : only+1]}
		}
		w.taps = append(w.taps, t)
		w.longest = max(w.longest, len(t.weights))
	}
	return w
}

func isSet(weight int32) bool { return weight != 0 }

func lanczos(x float64) float64 {
	switch {
	case x == 0:
		return 1
	case x <= -lobes || x >= lobes:
		return 0
	}
	x *= math.Pi
	return lobes * math.Sin(x) * math.Sin(x/lobes) / (x * x)
}
