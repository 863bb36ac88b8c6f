package jpeg

import (
	"errors"
	"fmt"
	"image"
)

// ErrUnsupported is returned for files that may be valid, but use an unsupported coding.
var ErrUnsupported = errors.New("jpeg: unsupported coding")

var (
	errNotJPEG = errors.New("jpeg: the file does not start with an SOI marker")
	errNoImage = errors.New("jpeg: the file has no frame header followed by a scan")
)

// unsupported wraps ErrUnsupported with details.
func unsupported(format string, arguments ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, arguments...))
}

// Decode decodes a file, with width and height divided by 1, 2, 4 or 8 and rounded up. Like image/jpeg, it returns an
// *image.Gray, *image.YCbCr, *image.CMYK or, for RGB files, *image.RGBA.
//
// The frame header determines the memory, so callers must check it first. Progressive files need two bytes for each
// used coefficient, and eight for each block, in addition to one plane of the image.
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
	// interval is the number of MCUs between restart markers; 0 without markers.
	interval int
	// block contains the dequantized coefficients of one block, and a last element for coefficients that are not
	// needed.
	block [65]int32
	// run is the number of blocks that end before the band starts (G.1.2.2).
	run int
	// decoded is set when a part of a scan has been decoded.
	decoded bool

	// Application data determine the color space.
	jfif, adobe    bool
	adobeTransform byte
}

// frame contains the content of the frame header.
type frame struct {
	width, height int
	progressive   bool
	components    []*component
	// columns and rows are the number of MCUs, which contain all components.
	columns, rows int
}

// component is a plane of an image, with its decoding state.
type component struct {
	id byte
	// horizontal and vertical are the sampling factors: the number of blocks in an MCU.
	horizontal, vertical int
	quantization         byte
	// columns and rows are the number of blocks that overlap the image.
	columns, rows int

	// samples contains whole MCUs.
	samples []byte
	stride  int
	// factors dequantize coefficients, in zigzag order.
	factors [zigzagLength]int32

	// dc, ac and predicted are valid during a scan.
	dc, ac    *table
	predicted int32

	// coefficients contains the needed coefficients of each block, for progressive files.
	coefficients []int16
	// nonzero contains a bit for each nonzero coefficient of a block, in zigzag order.
	nonzero []uint64
}
