package jpeg

import "math/bits"

// progression returns the function that decodes the blocks of a scan of a progressive file (G.1.2). It stores the
// needed coefficients. For the others it stores whether they are zero, because later scans depend on that.
func (d *decoder) progression(s *scan) func(c *component, column, row int) {
	decode := d.firstBits
	switch {
	case s.first == 0 && s.refine:
		decode = d.refineAverage
	case s.first == 0:
		decode = d.firstAverage
	case s.refine:
		decode = d.refineBits
	}
	return func(c *component, column, row int) { decode(s, c, row*d.columns*c.horizontal+column) }
}

// firstAverage decodes the DC coefficient of a block without its low bits.
func (d *decoder) firstAverage(s *scan, c *component, block int) {
	_, difference := d.next(c.dc)
	c.predicted += difference
	c.coefficients[block*d.size*d.size] = int16(c.predicted << s.low) //nolint:gosec // wrong only in damaged files
}

// refineAverage adds a bit to the DC coefficient of a block.
func (d *decoder) refineAverage(s *scan, c *component, block int) {
	c.coefficients[block*d.size*d.size] |= int16(d.take(1) << s.low) //nolint:gosec // a bit
}

// firstBits decodes the coefficients of a band of a block without their low bits.
func (d *decoder) firstBits(s *scan, c *component, block int) {
	if d.run > 0 {
		d.run--
		return
	}
	for k := s.first; k <= s.last; k++ {
		run, value := d.next(c.ac)
		if value == 0 && run < 15 {
			d.run = d.endOfBand(run) - 1
			return
		}
		k += run
		if value != 0 && k <= s.last {
			d.set(c, block, k, value<<s.low)
		}
	}
}

// endOfBand returns the number of blocks, including this one, whose band ends here.
func (d *decoder) endOfBand(size int) int { return 1<<size | int(d.take(uint(size))) }

// refineBits adds a bit to the coefficients of a band of a block (G.1.2.3). New nonzero coefficients are coded as in
// firstBits, followed by the bits of the nonzero coefficients that are skipped.
func (d *decoder) refineBits(s *scan, c *component, block int) {
	k := s.first
	for d.run == 0 && k <= s.last {
		zeros, value := d.next(c.ac)
		if value == 0 && zeros < 15 {
			d.run = d.endOfBand(zeros)
			break
		}
		for ; k <= s.last; k++ {
			if c.nonzero[block]>>k&1 != 0 {
				d.refine(s, c, block, k)
			} else if zeros--; zeros < 0 {
				break
			}
		}
		if value != 0 && k <= s.last {
			d.set(c, block, k, max(-1, min(value, 1))<<s.low)
		}
		k++
	}
	if d.run > 0 {
		d.run--
		for left := c.nonzero[block] >> k << k & (2<<s.last - 1); left != 0; left &= left - 1 {
			d.refine(s, c, block, bits.TrailingZeros64(left))
		}
	}
}

// set stores a coefficient that was zero.
func (d *decoder) set(c *component, block, k int, value int32) {
	c.nonzero[block] |= 1 << k
	if position := d.positions[k]; position != unneeded {
		c.coefficients[block*d.size*d.size+int(position)] = int16(value) //nolint:gosec // wrong only in damaged files
	}
}

// refine adds the next bit to a nonzero coefficient.
func (d *decoder) refine(s *scan, c *component, block, k int) {
	bit, position := d.take(1), d.positions[k]
	if bit == 0 || position == unneeded {
		return
	}
	coefficient := &c.coefficients[block*d.size*d.size+int(position)]
	if *coefficient < 0 {
		*coefficient -= 1 << s.low
	} else {
		*coefficient += 1 << s.low
	}
}

// transformAll transforms the blocks of a progressive file, and frees the coefficients of each completed component.
func (d *decoder) transformAll() {
	for _, c := range d.components {
		d.allocateSamples(c)
		d.setFactors(c)
		for row := range c.rows {
			for column := range c.columns {
				block := row*d.columns*c.horizontal + column
				coefficients := c.coefficients[block*d.size*d.size:]
				clear(d.block[:d.size*d.size])
				d.block[0] = int32(coefficients[0]) * c.factors[0]
				last := 0
				if d.size > 1 {
					for left := c.nonzero[block] & (2<<d.last - 1); left != 0; left &= left - 1 {
						last = bits.TrailingZeros64(left)
						if position := d.positions[last]; position != unneeded {
							d.block[position] = int32(coefficients[position]) * c.factors[last]
						}
					}
				}
				d.transform(c, column, row, last)
			}
		}
		c.coefficients, c.nonzero = nil, nil
	}
}
