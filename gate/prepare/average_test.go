package prepare

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// A gradient is as smooth as it can be, in any direction, and a single pixel that differs is not.
func TestAGradientIsSmooth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := request.Size{Width: rapid.IntRange(3, 20).Draw(rt, "width"), Height: rapid.IntRange(3, 20).Draw(rt, "height")}
		right, down := rapid.IntRange(0, 5).Draw(rt, "right"), rapid.IntRange(0, 5).Draw(rt, "down")
		p := newPlane(make([]uint8, size.Pixels()), size.Width, size.Width, size.Height)
		for i := range p.pix {
			p.pix[i] = uint8(10 + right*(i%size.Width) + down*(i/size.Width))
		}
		if got := p.roughness(size); got != 0 {
			rt.Errorf("%v by %d and %d: roughness %f", size, right, down, got)
		}
		p.pix[size.Width*(size.Height/2)+size.Width/2]++
		if p.roughness(size) == 0 {
			rt.Errorf("%v: a pixel that differs is not noticed", size)
		}
	})
}

// A plane of the same size is the same, and a multiple repeats each pixel.
func TestAveragesOfSinglePixelsAreThePixels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width, height := rapid.IntRange(1, 9).Draw(rt, "width"), rapid.IntRange(1, 9).Draw(rt, "height")
		across, along := rapid.IntRange(1, 3).Draw(rt, "times the width"), rapid.IntRange(1, 3).Draw(rt, "times the height")
		from := newPlane(rapid.SliceOfN(rapid.Uint8(), width*height, width*height).Draw(rt, "pixels"), width, width, height)
		to := newPlane(make([]uint8, width*across*height*along), width*across, width*across, height*along)
		from.averageInto(to)
		want := make([]uint8, 0, len(to.pix))
		for y := range to.height {
			for x := range to.width {
				want = append(want, from.pix[y/along*width+x/across])
			}
		}
		if !slices.Equal(to.pix, want) {
			rt.Fatalf("%v became %v, want %v", from.pix, to.pix, want)
		}
	})
}

// At least twice the width and height of the result remain, and not three times as much if one could divide further.
func TestAsMuchRemainsAsTheResultNeeds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		info := original.Info{Format: "jpeg", Size: request.Size{
			Width: rapid.IntRange(1, 9000).Draw(rt, "width"), Height: rapid.IntRange(1, 9000).Draw(rt, "height"),
		}}
		if rapid.Bool().Draw(rt, "as small as may be shrunk") {
			info.Size = request.Size{Width: 1024, Height: minPixels / 1024}
		}
		t := request.Transform{
			Width:  rapid.IntRange(1, 2000).Draw(rt, "w"),
			Height: rapid.IntRange(1, 2000).Draw(rt, "h"), Fit: request.FitScale,
		}
		by := factor(info, t)
		enough := func(by int) bool { return info.Size.Width >= 2*by*t.Width && info.Size.Height >= 2*by*t.Height }
		switch large := info.Size.Pixels() >= minPixels; {
		case by < 1, by > 1 && (!large || !enough(by)), large && enough(by+1):
			rt.Fatalf("%v to %dx%d: divided by %d", info.Size, t.Width, t.Height, by)
		}
	})
}
