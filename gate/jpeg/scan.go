package jpeg

import "slices"

// scan contains the content of a scan header.
type scan struct {
	components []*component
	// first and last bound the band of coefficients, in zigzag order.
	first, last int
	// low is the number of low bits that are left for later scans. refine is set for these scans, which add one bit.
	low    uint
	refine bool
	// decode decodes the next block of a component.
	decode func(c *component, column, row int)
}

// readScan reads a scan header (B.2.3) and the entropy-coded segments after it. Scans that cannot be decoded are
// skipped.
func (d *decoder) readScan(header []byte) {
	s := d.newScan(header)
	if s == nil {
		return
	}
	if d.components[0].stride == 0 {
		d.allocate()
	}
	if d.size == 1 && s.first > 0 {
		d.decoded = true
		return // the next marker other than a restart marker follows the data
	}
	for _, c := range s.components {
		d.setFactors(c)
	}
	columns, rows := d.columns, d.rows
	if len(s.components) == 1 { // each MCU is one block that overlaps the image (A.2.2)
		columns, rows = s.components[0].columns, s.components[0].rows
	}
	interval, mcus := d.interval, columns*rows
	if interval == 0 {
		interval = mcus
	}
	for start, number := 0, 0; start < mcus; {
		d.decodeInterval(s, start, min(start+interval, mcus), columns)
		missing, ok := d.restart(number)
		if !ok {
			break
		}
		number += 1 + missing
		start += (1 + missing) * interval
	}
}

// newScan returns the scan of a header, or nil if it cannot be decoded with the current tables.
func (d *decoder) newScan(header []byte) *scan {
	if len(header) < 6 || len(header) < 4+2*int(header[0]) || len(d.components) == 0 {
		return nil
	}
	selectors, band := header[1:1+2*int(header[0])], header[1+2*int(header[0]):]
	s := &scan{last: 63, decode: d.sequential}
	if d.progressive {
		s.first, s.last, s.low, s.refine = int(band[0]), int(band[1]), uint(band[2]&15), band[2]>>4 != 0
		s.decode = d.progression(s)
	}
	for ; len(selectors) > 0; selectors = selectors[2:] {
		at := slices.IndexFunc(d.components, func(c *component) bool { return c.id == selectors[0] })
		if at < 0 || slices.Contains(s.components, d.components[at]) {
			return nil
		}
		c := d.components[at]
		c.dc, c.ac = d.dc[selectors[1]>>4&3], d.ac[selectors[1]&3]
		s.components = append(s.components, c)
	}
	if !d.canDecode(s) {
		return nil
	}
	return s
}

// canDecode reports whether all tables of the scan exist and, for progressive files, whether the band is valid
// (G.1.1.1.1).
func (d *decoder) canDecode(s *scan) bool {
	average := s.first == 0
	if s.last > 63 || s.last < s.first || d.progressive && average && s.last > 0 {
		return false
	}
	for _, c := range s.components {
		if average && !s.refine && c.dc == nil || s.last > 0 && c.ac == nil {
			return false
		}
	}
	return average || len(s.components) == 1
}

// decodeInterval decodes the MCUs from start to end, until the data end.
func (d *decoder) decodeInterval(s *scan, start, end, columns int) {
	d.start()
	d.run = 0
	for _, c := range s.components {
		c.predicted = 0
	}
	for mcu := start; mcu < end; mcu++ {
		column, row := mcu%columns, mcu/columns
		if len(s.components) == 1 {
			s.decode(s.components[0], column, row)
		} else {
			for _, c := range s.components {
				for y := range c.vertical {
					for x := range c.horizontal {
						s.decode(c, column*c.horizontal+x, row*c.vertical+y)
					}
				}
			}
		}
		if d.overdrawn() {
			return
		}
		d.decoded = true
	}
}

// restart skips to the restart marker with a number (modulo 8). If one of the two following markers comes first,
// restart returns the number of missing intervals. If ok is false, the scan has ended.
func (d *decoder) restart(number int) (missing int, ok bool) {
	for {
		before := d.position
		marker, ok := d.nextMarker()
		if !ok || marker < firstRestart || marker > lastRestart {
			d.position = before
			return 0, false
		}
		switch missing = (int(marker) - firstRestart - number) & 7; missing {
		case 1, 2:
			return missing, true
		case 6, 7: // a delayed marker
		default:
			return 0, true
		}
	}
}
