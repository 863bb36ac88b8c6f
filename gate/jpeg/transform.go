package jpeg

import "math"

const (
	// precision is the number of fractional bits of dequantized coefficients.
	precision = 16
	// zigzagLength is the length of tables in zigzag order. Damaged data can exceed a block by up to 15 coefficients.
	zigzagLength = 64 + 15
	// unneeded is the position of coefficients that are not needed, after the block.
	unneeded = 64
)

// zigzag is the order of the coefficients in a file: 8 * row + column.
var zigzag = newZigzag()

// newZigzag traverses the diagonals of a block up and down (figure A.6).
func newZigzag() (order [64]int) {
	k := 0
	for diagonal := range 15 {
		for i := max(0, diagonal-7); i <= min(diagonal, 7); i++ {
			row, column := i, diagonal-i
			if diagonal%2 == 0 {
				row, column = column, row
			}
			order[k] = 8*row + column
			k++
		}
	}
	return order
}

// grid contains the size of a decoded block, and tables for it.
type grid struct {
	// size is the number of rows and columns: 8, 4, 2 or 1.
	size int
	// positions of coefficients in a block of this size, in zigzag order.
	positions [zigzagLength]uint8
	// last is the last needed coefficient, in zigzag order.
	last int
}

func newGrid(size int) grid {
	g := grid{size: size}
	for k := range g.positions {
		g.positions[k] = unneeded
		if k < 64 && zigzag[k]/8 < size && zigzag[k]%8 < size {
			g.positions[k] = uint8(zigzag[k]/8*size + zigzag[k]%8) //nolint:gosec // less than 64
			g.last = k
		}
	}
	return g
}

// setFactors combines quantization with the first multiplications of the inverse transform.
func (d *decoder) setFactors(c *component) {
	for k, at := range zigzag {
		if d.positions[k] != unneeded {
			weight := d.weight(at/8) * d.weight(at%8) / 8 * (1 << precision)
			c.factors[k] = int32(math.Round(float64(d.quantization[c.quantization][k]) * weight))
		}
	}
}

// weight returns the weight of a frequency in one direction: its weight in the inverse transform (A.3.3) with as many
// points as the grid has, relative to frequency 0, times the factors that inverse8 and inverse4 omit.
func (g grid) weight(frequency int) float64 {
	switch {
	case g.size == 8 && frequency > 0:
		return math.Sqrt2 * math.Cos(float64(frequency)*math.Pi/16)
	case g.size == 4 && frequency%2 == 1:
		return math.Sqrt2 * math.Cos(math.Pi/8)
	}
	return 1
}

// transform writes the samples of a block. The coefficients after last are zero.
func (d *decoder) transform(c *component, column, row, last int) {
	samples := c.samples[(row*c.stride+column)*d.size:]
	d.block[0] += 128<<precision + 1<<(precision-1)
	switch {
	case last == 0:
		value := clamp(int(d.block[0]))
		for y := range d.size {
			line := samples[y*c.stride:][:d.size]
			for x := range line {
				line[x] = value
			}
		}
	case d.size == 8:
		inverse8(&d.block, samples, c.stride)
	case d.size == 4:
		inverse4(&d.block, samples, c.stride)
	default:
		inverse2(&d.block, samples, c.stride)
	}
}

func clamp(value int) byte {
	value >>= precision
	if uint(value) > 255 {
		return byte(^value >> 63) //nolint:gosec // 0 for negative values, else 255
	}
	return byte(value) //nolint:gosec // at most 255
}
