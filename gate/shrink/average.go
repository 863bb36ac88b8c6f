package shrink

import "image"

// average reduces all planes. The result has chroma of half its width and height, which is
// also what the encoder writes.
func average(img *image.YCbCr, factor int) *image.YCbCr {
	bounds := img.Bounds()
	width, height := bounds.Dx()/factor, bounds.Dy()/factor
	out := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	plane{img.Y[img.YOffset(bounds.Min.X, bounds.Min.Y):], img.YStride, bounds.Dx(), bounds.Dy()}.
		averageInto(plane{out.Y, out.YStride, width, height})
	chroma := chromaSize(img)
	start := img.COffset(bounds.Min.X, bounds.Min.Y)
	half := image.Pt((width+1)/2, (height+1)/2)
	plane{img.Cb[start:], img.CStride, chroma.X, chroma.Y}.averageInto(plane{out.Cb, out.CStride, half.X, half.Y})
	plane{img.Cr[start:], img.CStride, chroma.X, chroma.Y}.averageInto(plane{out.Cr, out.CStride, half.X, half.Y})
	return out
}

func averageGray(img *image.Gray, factor int) *image.Gray {
	bounds := img.Bounds()
	width, height := bounds.Dx()/factor, bounds.Dy()/factor
	out := image.NewGray(image.Rect(0, 0, width, height))
	plane{img.Pix[img.PixOffset(bounds.Min.X, bounds.Min.Y):], img.Stride, bounds.Dx(), bounds.Dy()}.
		averageInto(plane{out.Pix, out.Stride, width, height})
	return out
}

func chromaSize(img *image.YCbCr) image.Point {
	size := img.Bounds().Size()
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		size.X = (size.X + 1) / 2
	case image.YCbCrSubsampleRatio420:
		size.X, size.Y = (size.X+1)/2, (size.Y+1)/2
	case image.YCbCrSubsampleRatio440:
		size.Y = (size.Y + 1) / 2
	case image.YCbCrSubsampleRatio411:
		size.X = (size.X + 3) / 4
	case image.YCbCrSubsampleRatio410:
		size.X, size.Y = (size.X+3)/4, (size.Y+1)/2
	}
	return size
}

// plane is one component of an image.
type plane struct {
	pix           []uint8
	stride        int
	width, height int
}

// averageInto divides the plane into as many blocks as out has pixels, as equal as possible,
// and writes their averages. If out is not smaller in a direction, blocks have one pixel
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
			line := p.pix[row*p.stride:][:p.width]
			for x := range sums {
				left, right := columns[x], max(columns[x]+1, columns[x+1])
				var sum uint32
				for _, value := range line[left:right] {
					sum += uint32(value)
				}
				sums[x] += sum
			}
		}
		line := out.pix[y*out.stride:][:out.width]
		for x, sum := range sums {
			n := uint32((max(columns[x]+1, columns[x+1]) - columns[x]) * (bottom - top)) //nolint:gosec // at most the pixels of an image
			line[x] = uint8((sum + n/2) / n)                                             //nolint:gosec // an average of bytes
		}
	}
}
