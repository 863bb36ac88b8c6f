package prepare

import (
	"image"
	"image/color"
	"image/draw"
)

// storedAs returns the plane of an upright image as one in which a camera stores it with an
// orientation: what is written to the result becomes upright. Orientation zero changes nothing.
func (p plane) storedAs(orientation int) plane {
	stored := p
	if orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7 { // from the right
		stored.start, stored.right = stored.start+(p.width-1)*p.right, -p.right
	}
	if orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8 { // from the bottom
		stored.start, stored.down = stored.start+(p.height-1)*p.down, -p.down
	}
	if orientation > 4 { // rows are columns
		stored.right, stored.down = stored.down, stored.right
		stored.width, stored.height = p.height, p.width
	}
	return stored
}

// turned returns a copy of an image, as it is decoded, that is upright.
func turned(img image.Image, orientation int) image.Image {
	size := img.Bounds().Size()
	if orientation > 4 {
		size.X, size.Y = size.Y, size.X
	}
	out := image.NewNRGBA(image.Rectangle{Max: size})
	// Pixels are written like a plane of which each value has four bytes.
	to := plane{right: 4, down: out.Stride, width: size.X, height: size.Y}.storedAs(orientation)
	row := image.NewNRGBA(image.Rect(0, 0, to.width, 1))
	for y := range to.height {
		copyRow(row, img, y)
		at := to.start + y*to.down
		for x := range to.width {
			copy(out.Pix[at:at+4], row.Pix[4*x:])
			at += to.right
		}
	}
	return out
}

// copyRow converts a row of an image. Values of lossy WebP files have the limited range of video,
// which Go's decoder leaves as it is.
func copyRow(row *image.NRGBA, img image.Image, y int) {
	switch img := img.(type) {
	case *image.YCbCr:
		for x := range row.Rect.Dx() {
			row.SetNRGBA(x, 0, fromVideo(img.YCbCrAt(x, y), 255))
		}
	case *image.NYCbCrA:
		for x := range row.Rect.Dx() {
			row.SetNRGBA(x, 0, fromVideo(img.YCbCrAt(x, y), img.A[img.AOffset(x, y)]))
		}
	default:
		draw.Draw(row, row.Rect, img, image.Pt(img.Bounds().Min.X, img.Bounds().Min.Y+y), draw.Src)
	}
}

// fromVideo converts a color of the limited range of BT.601.
func fromVideo(c color.YCbCr, alpha uint8) color.NRGBA {
	y, cb, cr := 1.164383*(float64(c.Y)-16), float64(c.Cb)-128, float64(c.Cr)-128
	level := func(v float64) uint8 { return uint8(min(max(v+.5, 0), 255)) }
	return color.NRGBA{level(y + 1.596027*cr), level(y - .391762*cb - .812968*cr), level(y + 2.017232*cb), alpha}
}
