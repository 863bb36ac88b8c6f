package jpeg

import (
	"errors"
	"fmt"
	"image"
)

// ErrUnsupported is returned for files that may be valid, but use a coding that this package does not know.
var ErrUnsupported = errors.New("jpeg: unsupported coding")

var (
	errNotJPEG = errors.New("jpeg: the file does not start with an SOI marker")
	errNoImage = errors.New("jpeg: the file has no frame header followed by a scan")
)

// unsupported returns an ErrUnsupported with details.
func unsupported(format string, arguments ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, arguments...))
}

// Decode decodes a file with its width and height divided by 1, 2, 4 or 8, and rounded up. It returns an *image.Gray,
// *image.YCbCr, *image.CMYK or, for files in RGB, *image.RGBA, as image/jpeg does.
//
// The memory that it needs follows from the frame header, which the caller must check before. Progressive files need
// two bytes for each coefficient that is used, and eight for each block, in addition to one plane of the image.
func Decode(data []byte, denominator int) (image.Image, error) {
	switch denominator {
	case 1, 2, 4, 8:
	default:
		return nil, fmt.Errorf("jpeg: denominator %d is not 1, 2, 4 or 8", denominator)
	}
	d := decoder{reader: reader{data: data}, grid: newGrid(8 / denominator)}
	if err := d.readSegments(); err != nil {
		return nil, err
	}
	if !d.decoded {
		return nil, errNoImage
	}
	if d.progressive {
		d.transformAll()
	}
	return d.image()
}

type decoder struct {
	reader
	grid
	frame
	quantization [4][64]uint16
	dc, ac       [4]*table
	// interval is the number of MCUs between two restart markers; 0 without.
	interval int
	// block has the dequantized coefficients of one block, and room for those that are not needed.
	block [65]int32
	// run is the number of blocks whose band ends before it starts (G.1.2.2).
	run int
	// decoded is set when a part of a scan has been decoded.
	decoded bool

	// The color space follows from application data.
	jfif, adobe    bool
	adobeTransform byte
}

// frame is what the frame header says.
type frame struct {
	width, height int
	progressive   bool
	components    []*component
	// columns and rows are the number of MCUs, which have all components.
	columns, rows int
}

// component is a plane of an image, and what is needed to decode it.
type component struct {
	id byte
	// horizontal and vertical are the sampling factors: the number of blocks in an MCU.
	horizontal, vertical int
	quantization         byte
	// columns and rows are the number of blocks that have a part in the image.
	columns, rows int

	// samples has whole MCUs.
	samples []byte
	stride  int
	// factors dequantize coefficients, in zigzag order.
	factors [zigzagLength]int32

	// dc, ac and predicted are valid during a scan.
	dc, ac    *table
	predicted int32

	// coefficients of progressive files: the needed ones of each block.
	coefficients []int16
	// nonzero has a bit for each coefficient of a block that is not zero, in zigzag order.
	nonzero []uint64
}
