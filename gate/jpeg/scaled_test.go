package jpeg

import (
	"bytes"
	"image"
	standard "image/jpeg"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// plane is a component of an image.
type plane struct {
	pix           []byte
	width, height int
}

// planesOf returns the components of a gray or YCbCr image.
func planesOf(img image.Image) []plane {
	size := img.Bounds().Size()
	samples := samplesOf(img)
	planes := []plane{{samples[0], size.X, size.Y}}
	if img, ok := img.(*image.YCbCr); ok {
		width := img.COffset(size.X-1, 0)%img.CStride + 1
		for _, pix := range samples[1:] {
			planes = append(planes, plane{pix, width, len(pix) / width})
		}
	}
	return planes
}

// averages returns the averages of squares. Squares at the right and lower edge are completed with the edge.
func (p plane) averages(side int) plane {
	out := plane{width: ceil(p.width, side), height: ceil(p.height, side)}
	for y := range out.height {
		for x := range out.width {
			sum := 0
			for i := range side * side {
				column, row := min(x*side+i%side, p.width-1), min(y*side+i/side, p.height-1)
				sum += int(p.pix[row*p.width+column])
			}
			out.pix = append(out.pix, byte((sum+side*side/2)/side/side))
		}
	}
	return out
}

// psnr returns the peak signal-to-noise ratio of two images in dB.
func psnr(a, b []plane) float64 {
	var sum, n float64
	for i := range a {
		for j := range a[i].pix {
			d := float64(a[i].pix[j]) - float64(b[i].pix[j])
			sum, n = sum+d*d, n+1
		}
	}
	return 10 * math.Log10(255*255*n/max(sum, 1e-9))
}

func TestAScaledImageIsLikeTheAveragesOfTheWholeOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPicture(t, true)
		p.application = nil
		if len(p.planes) == 4 {
			t.Skip("converted")
		}
		p.planes[0].id = 1
		l, _ := drawLayout(t, p)
		file := p.encode(l)
		whole, err := standard.Decode(bytes.NewReader(p.encode(plain(p))))
		if err != nil {
			t.Fatal(err)
		}
		for _, denominator := range []int{2, 4, 8} {
			img, err := Decode(file, denominator)
			if err != nil {
				t.Fatal(err)
			}
			got, want := planesOf(img), planesOf(whole)
			for i := range want {
				want[i] = want[i].averages(denominator)
				if got[i].width != want[i].width || got[i].height != want[i].height {
					t.Fatalf("plane %d of 1/%d is %dx%d, want %dx%d", i, denominator, got[i].width, got[i].height, want[i].width, want[i].height)
				}
			}
			least := 42.0
			if min(whole.Bounds().Dx(), whole.Bounds().Dy()) < 16 {
				least = 38 // the edge of a tiny image is a kink, which is averaged differently
			}
			if likeness := psnr(got, want); likeness < least {
				t.Fatalf("1/%d has %.1f dB", denominator, likeness)
			}
		}
	})
}
