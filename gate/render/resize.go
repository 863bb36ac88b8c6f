package render

import (
	"image"

	"github.com/darkroom-operator/darkroom-operator/gate/resample"
)

// resize returns the upright result of a decoded image as *image.Gray, *image.YCbCr (4:2:0), *image.CMYK or
// *image.RGBA.
func (p Plan) resize(img image.Image) image.Image {
	bounds := image.Rect(0, 0, p.size.Width, p.size.Height)
	whole := image.Pt(1, 1)
	switch from := img.(type) {
	case *image.Gray:
		to := image.NewGray(bounds)
		p.fill(planeOf(to.Pix, to.Stride, bounds, 1), planeOf(from.Pix, from.Stride, from.Rect, 1), whole, whole)
		return to
	case *image.YCbCr:
		to := image.NewYCbCr(bounds, image.YCbCrSubsampleRatio420)
		p.fill(planeOf(to.Y, to.YStride, bounds, 1), planeOf(from.Y, from.YStride, from.Rect, 1), whole, whole)
		toColors, ratio := chromaOf(to)
		colors, fromRatio := chromaOf(from)
		p.fill(planeOf(to.Cb, to.CStride, toColors, 1), planeOf(from.Cb, from.CStride, colors, 1), ratio, fromRatio)
		p.fill(planeOf(to.Cr, to.CStride, toColors, 1), planeOf(from.Cr, from.CStride, colors, 1), ratio, fromRatio)
		return to
	case *image.CMYK:
		to := image.NewCMYK(bounds)
		p.fill(planeOf(to.Pix, to.Stride, bounds, 4), planeOf(from.Pix, from.Stride, from.Rect, 4), whole, whole)
		return to
	}
	from, to := img.(*image.RGBA), image.NewRGBA(bounds)
	p.fill(planeOf(to.Pix, to.Stride, bounds, 4), planeOf(from.Pix, from.Stride, from.Rect, 4), whole, whole)
	return to
}

func planeOf(pix []byte, stride int, bounds image.Rectangle, channels int) resample.Plane {
	return resample.Plane{Pix: pix, Stride: stride, Width: bounds.Dx(), Height: bounds.Dy(), Channels: channels}
}

// chromaOf returns the bounds of the chroma planes, and the number of pixels for each sample.
func chromaOf(img *image.YCbCr) (bounds image.Rectangle, ratio image.Point) {
	last := img.COffset(img.Rect.Max.X-1, img.Rect.Max.Y-1)
	bounds = image.Rect(0, 0, last%img.CStride+1, last/img.CStride+1)
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		return bounds, image.Pt(2, 1)
	case image.YCbCrSubsampleRatio420:
		return bounds, image.Pt(2, 2)
	case image.YCbCrSubsampleRatio440:
		return bounds, image.Pt(1, 2)
	case image.YCbCrSubsampleRatio411:
		return bounds, image.Pt(4, 1)
	case image.YCbCrSubsampleRatio410:
		return bounds, image.Pt(4, 2)
	}
	return bounds, image.Pt(1, 1)
}

// fill resizes a plane of the decoded image to a plane of the result, and rotates it if necessary. The ratios are the
// pixels of each sample.
func (p Plan) fill(to, from resample.Plane, toRatio, fromRatio image.Point) {
	turned, stored := to, p.stored()
	onItsSide := p.info.Orientation > 4
	if onItsSide {
		turned.Width, turned.Height, turned.Stride = to.Height, to.Width, to.Height*to.Channels
		turned.Pix = make([]byte, turned.Stride*turned.Height)
	}
	// The last sample may extend beyond the image.
	along := func(start, end float64, length, stored, toRatio, fromRatio int) (from, to float64) {
		each := (end - start) / float64(stored)
		unit := float64(p.denominator * fromRatio)
		return start / unit, (start + each*float64(length*toRatio)) / unit
	}
	var area resample.Area
	area.X0, area.X1 = along(p.area.X0, p.area.X1, turned.Width, stored.Width, toRatio.X, fromRatio.X)
	area.Y0, area.Y1 = along(p.area.Y0, p.area.Y1, turned.Height, stored.Height, toRatio.Y, fromRatio.Y)
	resample.Scale(turned, from, area)
	if onItsSide {
		transpose(to, turned)
	}
}

// transpose swaps rows and columns.
func transpose(to, from resample.Plane) {
	for y := range to.Height {
		line, at := to.Pix[y*to.Stride:], y*to.Channels
		for x := range to.Width {
			copy(line[x*to.Channels:], from.Pix[at:at+to.Channels])
			at += from.Stride
		}
	}
}
