package prepare

import (
	"image"
	"math"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// average returns a JPEG's image with width and height divided by the factor, turned upright; nil
// if it is neither YCbCr nor gray. Chroma has half the width and height, which is also what the
// encoder writes.
func (p Plan) average(img image.Image, info original.Info) image.Image {
	from := planes(img)
	if len(from) == 0 || info.Format != "jpeg" {
		return nil
	}
	size := img.Bounds().Size().Div(p.Factor)
	if p.Orientation > 4 {
		size.X, size.Y = size.Y, size.X
	}
	var out image.Image
	if len(from) == 1 {
		out = image.NewGray(image.Rectangle{Max: size})
	} else {
		out = image.NewYCbCr(image.Rectangle{Max: size}, image.YCbCrSubsampleRatio420)
	}
	for i, to := range planes(out) {
		from[i].averageInto(to.storedAs(p.Orientation))
	}
	return out
}

// planes returns the components of an image that starts at zero, as decoded ones do, luma first.
func planes(img image.Image) []plane {
	size := img.Bounds().Size()
	switch img := img.(type) {
	case *image.Gray:
		return []plane{newPlane(img.Pix, img.Stride, size.X, size.Y)}
	case *image.YCbCr:
		last := img.COffset(size.X-1, size.Y-1)
		width, height := last%img.CStride+1, last/img.CStride+1
		return []plane{
			newPlane(img.Y, img.YStride, size.X, size.Y), newPlane(img.Cb, img.CStride, width, height),
			newPlane(img.Cr, img.CStride, width, height),
		}
	}
	return nil
}

// plane is one component of an image. The value at x and y is at start + x*right + y*down.
type plane struct {
	pix                []uint8
	start, right, down int
	width, height      int
}

func newPlane(pix []uint8, stride, width, height int) plane {
	return plane{pix: pix, right: 1, down: stride, width: width, height: height}
}

// averageInto divides the plane into as many blocks as out has pixels, as equal as possible, and writes their
// averages. The plane itself is as it was decoded. If out is not smaller in a direction, blocks have one pixel
// in that direction.
func (p plane) averageInto(out plane) {
	columns := make([]int, out.width+1)
	for x := range columns {
		columns[x] = x * p.width / out.width
	}
	sums := make([]uint32, out.width)
	for y := range out.height {
		top := y * p.height / out.height
		bottom := max(top+1, (y+1)*p.height/out.height)
		clear(sums)
		for row := top; row < bottom; row++ {
			line := p.pix[row*p.down:][:p.width]
			for x := range sums {
				left, right := columns[x], max(columns[x]+1, columns[x+1])
				var sum uint32
				for _, value := range line[left:right] {
					sum += uint32(value)
				}
				sums[x] += sum
			}
		}
		at := out.start + y*out.down
		for x, sum := range sums {
			width := max(columns[x]+1, columns[x+1]) - columns[x]
			n := uint32(width * (bottom - top))  //nolint:gosec // at most the pixels of an image
			out.pix[at] = uint8((sum + n/2) / n) //nolint:gosec // an average of bytes
			at += out.right
		}
	}
}

// roughness is the root mean square of the differences between the pixels of the result, of
// the given size, and their neighbors.
func (p plane) roughness(result request.Size) float64 {
	width, height := min(result.Width, p.width), min(result.Height, p.height)
	small := newPlane(make([]uint8, width*height), width, width, height)
	p.averageInto(small)
	var sum, n float64
	for y := 1; y < height-1; y++ {
		for x := 1; x < width-1; x++ {
			at := y*width + x
			d := 4*int(small.pix[at]) - int(small.pix[at-1]) - int(small.pix[at+1]) - int(
				small.pix[at-width],
			) - int(small.pix[at+width])
			sum += float64(d * d)
			n++
		}
	}
	return math.Sqrt(sum / max(n, 1))
}
