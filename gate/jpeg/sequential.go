package jpeg

// sequential decodes a block with all its coefficients (F.2.2) and transforms it.
func (d *decoder) sequential(c *component, column, row int) {
	clear(d.block[:d.size*d.size])
	_, difference := d.next(c.dc)
	c.predicted += difference
	d.block[0] = c.predicted * c.factors[0]
	last := d.coefficients(c)
	if !d.overdrawn() {
		d.transform(c, column, row, last)
	}
}

// coefficients decodes the AC coefficients of a block and dequantizes the needed ones. It returns the index of the
// last one in zigzag order.
func (d *decoder) coefficients(c *component) (last int) {
	reservoir, count := d.reservoir, d.count
	table, factors, positions := c.ac, &c.factors, &d.positions
	k := 1
	for ; k <= d.last; k++ {
		if count < 32 {
			d.reservoir, d.count = reservoir, count
			d.fill()
			reservoir, count = d.reservoir, d.count
		}
		e := table.entries[reservoir>>(64-lookup)]
		run, value := e.run(), e.value()
		if value != 0 {
			reservoir <<= e.length()
			count -= e.length()
		} else {
			d.reservoir, d.count = reservoir, count
			run, value = d.next(table)
			if value == 0 && run < 15 {
				return last
			}
			reservoir, count = d.reservoir, d.count
		}
		k += run
		d.block[positions[k]] = value * factors[k]
		last = k
	}
	d.reservoir, d.count = reservoir, count
	d.skipCoefficients(table, k)
	return last
}

// skipCoefficients skips to the end of a block, starting with coefficient k in zigzag order.
func (d *decoder) skipCoefficients(table *table, k int) {
	for k < 64 {
		if d.count < 32 {
			d.fill()
		}
		s := table.skips[d.reservoir>>(64-lookup)]
		if s != 0 && k+s.zigzag() < 64 {
			d.drop(s.length())
			k += s.zigzag()
			if s&endOfBlock != 0 {
				return
			}
			continue
		}
		run, value := d.next(table)
		if value == 0 && run < 15 {
			return
		}
		k += run + 1
	}
}
