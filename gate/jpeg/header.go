package jpeg

import (
	"bytes"
	"encoding/binary"
)

// Markers (table B.1).
const (
	firstMarker            = 0xc0
	baselineFrame          = 0xc0
	extendedFrame          = 0xc1
	progressiveFrame       = 0xc2
	huffmanTables          = 0xc4
	lastFrame              = 0xcf
	arithmeticTables       = 0xcc
	reservedFrame          = 0xc8
	firstRestart           = 0xd0
	lastRestart            = 0xd7
	startOfImage           = 0xd8
	endOfImage             = 0xd9
	startOfScan            = 0xda
	quantizationTables     = 0xdb
	restartInterval        = 0xdd
	hierarchical           = 0xde
	applicationData        = 0xe0
	adobeApplicationData   = 0xee
	adobeTransformPosition = 11
)

// readSegments reads the file, as far as it goes. Unknown segments are skipped.
func (d *decoder) readSegments() error {
	if !bytes.HasPrefix(d.data, []byte{0xff, startOfImage}) {
		return errNotJPEG
	}
	d.position = 2
	for {
		marker, ok := d.nextMarker()
		switch {
		case !ok || marker == endOfImage || marker == startOfImage:
			return nil
		case firstRestart <= marker && marker <= lastRestart: // of a scan with excess data
			continue
		case isFrame(marker) && d.components != nil: // of another image
			return nil
		}
		body, ok := d.segment()
		if !ok {
			return nil
		}
		if err := d.readSegment(marker, body); err != nil {
			return err
		}
	}
}

// segment returns the content of the segment after a marker, and whether it is complete.
func (d *decoder) segment() ([]byte, bool) {
	rest := d.data[d.position:]
	if len(rest) < 2 {
		return nil, false
	}
	length := int(binary.BigEndian.Uint16(rest))
	if length > len(rest) {
		return nil, false
	}
	d.position += max(length, 2)
	return rest[2:max(length, 2)], true
}

func isFrame(marker byte) bool {
	return marker <= lastFrame && marker != huffmanTables && marker != reservedFrame && marker != arithmeticTables
}

func (d *decoder) readSegment(marker byte, body []byte) error {
	switch {
	case marker == hierarchical:
		return unsupported("hierarchical file")
	case isFrame(marker):
		return d.readFrame(marker, body)
	case marker == startOfScan:
		d.readScan(body)
	case marker == quantizationTables:
		d.readQuantizationTables(body)
	case marker == huffmanTables:
		d.readHuffmanTables(body)
	case marker == restartInterval && len(body) >= 2:
		d.interval = int(binary.BigEndian.Uint16(body))
	case marker == applicationData && len(body) >= 5:
		d.jfif = bytes.HasPrefix(body, []byte("JFIF\x00"))
	case marker == adobeApplicationData && len(body) > adobeTransformPosition && bytes.HasPrefix(body, []byte("Adobe")):
		d.adobe, d.adobeTransform = true, body[adobeTransformPosition]
	}
	return nil
}

// readFrame reads a frame header (B.2.2).
func (d *decoder) readFrame(marker byte, body []byte) error {
	switch {
	case marker > progressiveFrame:
		return unsupported("arithmetic, lossless or hierarchical coding (marker %#x)", marker)
	case len(body) < 6 || len(body) < 6+3*int(body[5]):
		return errNoImage
	case body[0] != 8:
		return unsupported("%d bits per sample", body[0])
	}
	d.progressive = marker == progressiveFrame
	d.height, d.width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	if d.height == 0 || d.width == 0 {
		return unsupported("size of %dx%d in the frame header", d.width, d.height)
	}
	for i := range int(body[5]) {
		b := body[6+3*i:]
		for _, other := range d.components {
			if other.id == b[0] {
				return unsupported("two components with one identifier")
			}
		}
		d.components = append(d.components, &component{
			id: b[0], horizontal: int(b[1] >> 4), vertical: int(b[1] & 15), quantization: b[2] & 3,
		})
	}
	return d.layOut()
}

// layOut computes the number of blocks of each component from the sampling factors (A.1.1, A.2).
func (d *decoder) layOut() error {
	if len(d.components) == 1 { // its factors are ignored
		d.components[0].horizontal, d.components[0].vertical = 1, 1
	}
	if !d.supportsSampling() {
		return unsupported("number of components or sampling factors")
	}
	first := d.components[0] // has the largest factors
	d.columns = ceil(d.width, 8*first.horizontal)
	d.rows = ceil(d.height, 8*first.vertical)
	for _, c := range d.components {
		c.columns = ceil(ceil(d.width*c.horizontal, first.horizontal), 8)
		c.rows = ceil(ceil(d.height*c.vertical, first.vertical), 8)
	}
	return nil
}

// supportsSampling reports whether package image can represent the components.
func (d *decoder) supportsSampling() bool {
	for _, c := range d.components {
		h, v := c.horizontal, c.vertical
		if h != 1 && h != 2 && h != 4 || v != 1 && v != 2 {
			return false
		}
	}
	switch len(d.components) {
	case 1:
		return true
	case 3:
		_, ok := ratios[d.subsampling()]
		return ok && d.components[1].sampledAs(d.components[2])
	case 4:
		ratio := d.subsampling()
		return d.components[0].sampledAs(d.components[3]) && d.components[1].sampledAs(d.components[2]) &&
			(ratio == [2]int{1, 1} || ratio == [2]int{2, 2})
	}
	return false
}

func (c *component) sampledAs(other *component) bool {
	return c.horizontal == other.horizontal && c.vertical == other.vertical
}

// readQuantizationTables reads tables of 8 or 16 bits (B.2.4.1).
func (d *decoder) readQuantizationTables(body []byte) {
	for len(body) > 0 {
		wide, to := body[0]>>4 != 0, &d.quantization[body[0]&3]
		body = body[1:]
		for i := range to {
			switch {
			case wide && len(body) >= 2:
				to[i], body = binary.BigEndian.Uint16(body), body[2:]
			case !wide && len(body) >= 1:
				to[i], body = uint16(body[0]), body[1:]
			}
		}
	}
}

// readHuffmanTables reads tables (B.2.4.2).
func (d *decoder) readHuffmanTables(body []byte) {
	for len(body) > 17 {
		to := &d.dc[body[0]&3]
		if body[0]>>4 != 0 {
			to = &d.ac[body[0]&3]
		}
		counts, count := body[1:17], 0
		for _, n := range counts {
			count += int(n)
		}
		body = body[17:]
		count = min(count, len(body), 256)
		*to = newTable(counts, body[:count])
		body = body[count:]
	}
}

// ceil returns n divided by divisor, rounded up.
func ceil(n, divisor int) int { return (n + divisor - 1) / divisor }
