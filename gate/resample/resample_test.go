package resample

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/draw"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

// reference scales a channel in floating point: each pixel is the average of the area, weighted by the filter.
func reference(to, from Plane, channel int, area Area, x, y int) float64 {
	scaleX, scaleY := (area.X1-area.X0)/float64(to.Width), (area.Y1-area.Y0)/float64(to.Height)
	var sum, weights float64
	for row := int(area.Y0); row < int(math.Ceil(area.Y1)); row++ {
		vertical := lanczos((float64(row) + 0.5 - area.Y0 - (float64(y)+0.5)*scaleY) / max(1, scaleY))
		for column := int(area.X0); column < int(math.Ceil(area.X1)); column++ {
			weight := vertical * lanczos((float64(column)+0.5-area.X0-(float64(x)+0.5)*scaleX)/max(1, scaleX))
			sum += weight * float64(from.Pix[row*from.Stride+column*from.Channels+channel])
			weights += weight
		}
	}
	return min(255, max(0, sum/weights))
}

func drawPlane(t *rapid.T, name string, channels int) Plane {
	p := Plane{Width: rapid.IntRange(1, 60).Draw(t, name+" width"), Height: rapid.IntRange(1, 60).Draw(t, name+" height")}
	p.Channels, p.Stride = channels, p.Width*channels+rapid.IntRange(0, 3).Draw(t, name+" padding")
	p.Pix = make([]byte, p.Stride*p.Height)
	return p
}

func TestScaledPlanesAreTheWeightedAverages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 4}).Draw(t, "channels")
		to, from := drawPlane(t, "to", channels), drawPlane(t, "from", channels)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "content"), 0))
		for i := range from.Pix {
			from.Pix[i] = byte(random.IntN(256))
		}
		side := func(name string, length int) (from, to float64) {
			if rapid.Bool().Draw(t, "whole "+name) {
				return 0, float64(length)
			}
			from = rapid.Float64Range(0, float64(length)-0.5).Draw(t, name+" from")
			return from, rapid.Float64Range(from+0.25, float64(length)).Draw(t, name+" to")
		}
		var area Area
		area.X0, area.X1 = side("x", from.Width)
		area.Y0, area.Y1 = side("y", from.Height)
		Scale(to, from, area)
		var sum, n float64
		for y := range to.Height {
			for x := range to.Width {
				for channel := range channels {
					want, got := reference(to, from, channel, area, x, y), to.Pix[y*to.Stride+x*channels+channel]
					d := float64(got) - want
					if math.Abs(d) >= 2 {
						t.Fatalf("got %d at %d, %d, want %.1f", got, x, y, want)
					}
					sum, n = sum+d*d, n+1
				}
			}
		}
		if likeness := 10 * math.Log10(255*255*n/max(sum, 1e-9)); likeness < 50 {
			t.Fatalf("%.1f dB", likeness)
		}
	})
}

// One weight of the seventh pixel is 1, and the others add up to 0.
func TestAPixelWithSeveralWeightsIsNotCopied(t *testing.T) {
	if got := weigh(9, 5, 1./1024, 4822.5/1024).taps[6].weights; len(got) < 2 {
		t.Errorf("weights %v", got)
	}
}

// A mirrored area gives the mirrored result.
func TestAnAreaThatEndsBeforeItStartsIsMirrored(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 4}).Draw(t, "channels")
		to, from := drawPlane(t, "to", channels), drawPlane(t, "from", channels)
		for i := range from.Pix {
			from.Pix[i] = byte(i * i)
		}
		width, height := float64(from.Width), float64(from.Height)
		Scale(to, from, Area{X1: width, Y1: height})
		mirrored := to
		mirrored.Pix = make([]byte, len(to.Pix))
		Scale(mirrored, from, Area{X0: width, Y0: height})
		for y := range to.Height {
			for x := range to.Width {
				at, other := y*to.Stride+x*channels, (to.Height-1-y)*to.Stride+(to.Width-1-x)*channels
				if !bytes.Equal(to.Pix[at:at+channels], mirrored.Pix[other:other+channels]) {
					t.Fatalf("%d,%d of %dx%d", x, y, to.Width, to.Height)
				}
			}
		}
	})
}

func TestAPlaneOfOneColorKeepsIt(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		to, from := drawPlane(t, "to", 1), drawPlane(t, "from", 1)
		value := rapid.Byte().Draw(t, "value")
		for i := range from.Pix {
			from.Pix[i] = value
		}
		Scale(to, from, Area{X1: float64(from.Width), Y1: float64(from.Height)})
		for y := range to.Height {
			for x := range to.Width {
				if got := to.Pix[y*to.Stride+x]; got != value {
					t.Fatalf("got %d at %d, %d, want %d", got, x, y, value)
				}
			}
		}
	})
}

func BenchmarkScale(b *testing.B) {
	source := image.NewRGBA(image.Rect(0, 0, 2000, 1500))
	for i := range source.Pix {
		source.Pix[i] = byte(rand.IntN(256))
	}
	for _, width := range []int{300, 800, 1200} {
		size := image.Rect(0, 0, width, width*3/4)
		out := image.NewRGBA(size)
		b.Run(fmt.Sprintf("CatmullRom RGBA %d", width), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				draw.CatmullRom.Scale(out, size, source, source.Rect, draw.Src, nil)
			}
		})
		b.Run(fmt.Sprintf("RGBA %d", width), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Scale(Plane{out.Pix, out.Stride, size.Max.X, size.Max.Y, 4}, Plane{source.Pix, source.Stride, 2000, 1500, 4},
					Area{X1: 2000, Y1: 1500})
			}
		})
		b.Run(fmt.Sprintf("4:2:0 %d", width), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Scale(Plane{out.Pix, width, width, width * 3 / 4, 1}, Plane{source.Pix, 2000, 2000, 1500, 1}, Area{X1: 2000, Y1: 1500})
				for range 2 {
					Scale(Plane{out.Pix, width / 2, width / 2, width * 3 / 8, 1}, Plane{source.Pix, 1000, 1000, 750, 1},
						Area{X1: 1000, Y1: 750})
				}
			}
		})
	}
}
