package original

import "github.com/darkroom-operator/darkroom-operator/gate/request"

// Weight returns the memory that Darkroom needs for a transformation, in bytes: the file, the
// decoded image, its copy with four bytes per pixel from which Darkroom scales, and two
// copies of the result.
//
// Measured with Darkroom v0.4.2, a 12-megapixel JPEG takes 68 MiB; this is an upper bound.
func Weight(info Info, length int64, t request.Transform) int64 {
	const rgba = 4
	pixels := float64(info.Size.Pixels())
	scaled := t.Scaled(info.Size)
	// Scaling is done by columns after rows; the image between them has the result's
	// width and the original's height.
	between := float64(scaled.Width) * float64(info.Size.Height)
	if scaled == info.Size {
		between = 0
	}
	result := 2 * float64(scaled.Pixels())
	return 2*length + int64(pixels*(info.BytesPerPixel+rgba)+rgba*(between+result))
}
