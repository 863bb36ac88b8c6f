package shrink

import (
	"math"

	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// maxRoughness separates photographs from line art. Measured with results of 100 to 480
// pixels: photographs, noisy ones too, have a roughness of 7 to 25, and the result has 40 dB
// or more; thin black lines on white have 130 to 170, and the result has 32 to 43 dB.
const maxRoughness = 60

// roughness is the root mean square of the differences between the pixels of the result, of
// the given size, and their neighbors.
func (p plane) roughness(result request.Size) float64 {
	width, height := min(result.Width, p.width), min(result.Height, p.height)
	small := plane{make([]uint8, width*height), width, width, height}
	p.averageInto(small)
	var sum, n float64
	for y := 1; y < height-1; y++ {
		for x := 1; x < width-1; x++ {
			at := y*width + x
			d := 4*int(small.pix[at]) - int(small.pix[at-1]) - int(small.pix[at+1]) - int(small.pix[at-width]) - int(small.pix[at+width])
			sum += float64(d * d)
			n++
		}
	}
	return math.Sqrt(sum / max(n, 1))
}
