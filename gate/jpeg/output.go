package jpeg

import (
	"image"
	"image/draw"
)

// ratios maps horizontal and vertical chroma subsampling to the constants of package image.
var ratios = map[[2]int]image.YCbCrSubsampleRatio{
	{1, 1}: image.YCbCrSubsampleRatio444, {1, 2}: image.YCbCrSubsampleRatio440,
	{2, 1}: image.YCbCrSubsampleRatio422, {2, 2}: image.YCbCrSubsampleRatio420,
	{4, 1}: image.YCbCrSubsampleRatio411, {4, 2}: image.YCbCrSubsampleRatio410,
}

// subsampling returns how much less often the second component is sampled than the first; 0 if it is sampled more
// often.
func (f *frame) subsampling() [2]int {
	luma, chroma := f.components[0], f.components[1]
	return [2]int{luma.horizontal / chroma.horizontal, luma.vertical / chroma.vertical}
}

// allocate allocates planes, or coefficients for progressive files.
func (d *decoder) allocate() {
	for _, c := range d.components {
		c.stride = d.columns * c.horizontal * d.size
		if !d.progressive {
			d.allocateSamples(c)
			continue
		}
		blocks := d.columns * c.horizontal * d.rows * c.vertical
		c.coefficients = make([]int16, blocks*d.size*d.size)
		if d.size > 1 {
			c.nonzero = make([]uint64, blocks)
		}
	}
}

// allocateSamples allocates a gray plane.
func (d *decoder) allocateSamples(c *component) {
	c.samples = make([]byte, c.stride*d.rows*c.vertical*d.size)
	c.samples[0] = 128
	for done := 1; done < len(c.samples); done *= 2 {
		copy(c.samples[done:], c.samples[:done])
	}
}

// image returns the planes as an image.
func (d *decoder) image() (image.Image, error) {
	c := d.components
	bounds := image.Rect(0, 0, ceil(d.width*d.size, 8), ceil(d.height*d.size, 8))
	if len(c) == 1 {
		return &image.Gray{Pix: c[0].samples, Stride: c[0].stride, Rect: bounds}, nil
	}
	ycbcr := &image.YCbCr{
		Y: c[0].samples, Cb: c[1].samples, Cr: c[2].samples, YStride: c[0].stride, CStride: c[1].stride,
		SubsampleRatio: ratios[d.subsampling()], Rect: bounds,
	}
	switch {
	case len(c) == 4 && !d.adobe:
		return nil, unsupported("four components of an unknown color space")
	case len(c) == 4 && d.adobeTransform == 0:
		return d.cmyk(ycbcr), nil
	case len(c) == 4:
		return d.ycck(ycbcr), nil
	case d.isRGB():
		return d.rgb(ycbcr), nil
	}
	return ycbcr, nil
}

func (d *decoder) isRGB() bool {
	if d.jfif {
		return false
	}
	c := d.components
	return d.adobe && d.adobeTransform == 0 || c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B'
}

// rgb converts planes of red, green and blue.
func (d *decoder) rgb(planes *image.YCbCr) *image.RGBA {
	out := image.NewRGBA(planes.Rect)
	d.eachPixel(planes, func(to, first, others int) {
		pix := out.Pix[4*to : 4*to+4 : 4*to+4]
		pix[0], pix[1], pix[2], pix[3] = planes.Y[first], planes.Cb[others], planes.Cr[others], 255
	})
	return out
}

// cmyk converts planes of cyan, magenta, yellow and black. Adobe's marker inverts them: 255 is no ink.
func (d *decoder) cmyk(planes *image.YCbCr) *image.CMYK {
	out := image.NewCMYK(planes.Rect)
	black := d.components[3].samples
	d.eachPixel(planes, func(to, first, others int) {
		pix := out.Pix[4*to : 4*to+4 : 4*to+4]
		pix[0], pix[1] = 255-planes.Y[first], 255-planes.Cb[others]
		pix[2], pix[3] = 255-planes.Cr[others], 255-black[first]
	})
	return out
}

// ycck converts planes of inverted black, and of inverted cyan, magenta and yellow in YCbCr.
func (d *decoder) ycck(planes *image.YCbCr) *image.CMYK {
	inverted := image.NewRGBA(planes.Rect)
	draw.Draw(inverted, planes.Rect, planes, image.Point{}, draw.Src)
	black := d.components[3].samples
	d.eachPixel(planes, func(to, first, _ int) { inverted.Pix[4*to+3] = 255 - black[first] })
	return &image.CMYK{Pix: inverted.Pix, Stride: inverted.Stride, Rect: inverted.Rect}
}

// eachPixel calls visit for each pixel with its number, its offset in the first and last component, and its offset in
// the others.
func (d *decoder) eachPixel(planes *image.YCbCr, visit func(to, first, others int)) {
	to := 0
	for y := range planes.Rect.Max.Y {
		for x := range planes.Rect.Max.X {
			visit(to, planes.YOffset(x, y), planes.COffset(x, y))
			to++
		}
	}
}
