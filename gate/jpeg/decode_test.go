package jpeg

import (
	"bytes"
	"image"
	standard "image/jpeg"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

// sampling contains the sampling factors of each component, as in the frame header.
type sampling []byte

var samplings = []sampling{
	{0x11},
	{0x21},
	{0x11, 0x11, 0x11},
	{0x21, 0x11, 0x11},
	{0x22, 0x11, 0x11},
	{0x12, 0x11, 0x11},
	{0x41, 0x11, 0x11},
	{0x42, 0x11, 0x11},
	{0x22, 0x21, 0x21},
	{0x22, 0x12, 0x12},
	{0x41, 0x21, 0x21},
	{0x11, 0x11, 0x11, 0x11},
	{0x22, 0x11, 0x11, 0x22},
}

// drawPicture draws waves and noise. Smooth images have only low frequencies.
func drawPicture(t *rapid.T, smooth bool) *picture {
	factors := rapid.SampledFrom(samplings).Draw(t, "sampling")
	width, height := rapid.IntRange(1, 100).Draw(t, "width"), rapid.IntRange(1, 100).Draw(t, "height")
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "content"), 0))
	planes := make([]pictured, len(factors))
	for i, f := range factors {
		planes[i] = pictured{id: byte(i + 1), tables: byte(min(i, 1)), horizontal: int(f >> 4), vertical: int(f & 15)}
	}
	var quantization [4][64]uint16
	limit := rapid.SampledFrom([]int{1, 3, 20, 255, 1000, 65535}).Draw(t, "quantization")
	if smooth {
		limit = min(limit, 3)
	}
	for i := range quantization {
		for k := range quantization[i] {
			quantization[i][k] = uint16(1 + random.IntN(min(limit, 1+limit*(k+1)/16)))
		}
	}
	waves := make([][3][4]float64, len(factors))
	noise := rapid.SampledFrom([]float64{0, 2, 30, 300}).Draw(t, "noise")
	highest, fastest := 60.0, 0.7
	if smooth {
		noise, highest, fastest = min(noise, 2), 40, 0.08
	}
	for i := range waves {
		for j := range waves[i] {
			waves[i][j] = [4]float64{random.Float64() * highest, random.Float64() * fastest, random.Float64() * fastest}
			waves[i][j][3] = random.Float64() * 6
		}
	}
	p := newPicture(width, height, planes, quantization, func(component, x, y int) float64 {
		value := 128 + noise*(random.Float64()-0.5)
		for _, w := range waves[component] {
			value += w[0] * math.Sin(w[1]*float64(x)+w[2]*float64(y)+w[3])
		}
		return value
	})
	switch kind := rapid.SampledFrom([]string{"", "JFIF", "Adobe0", "Adobe2", "RGB"}).Draw(t, "color"); {
	case kind == "JFIF" && len(planes) < 4:
		p.application = segment(applicationData, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")...)
	case kind == "Adobe0", len(planes) == 4 && kind != "Adobe2":
		p.application = segment(adobeApplicationData, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")...)
	case kind == "Adobe2":
		p.application = segment(adobeApplicationData, []byte("Adobe\x00\x64\x00\x00\x00\x00\x02")...)
	case kind == "RGB" && len(planes) == 3:
		planes[0].id, planes[1].id, planes[2].id = 'R', 'G', 'B'
	}
	return p
}

// plain is the simplest layout of a picture.
func plain(p *picture) layout {
	l := layout{frame: baselineFrame, scans: []pass{{last: 63}}}
	for i := range p.planes {
		l.scans[0].components = append(l.scans[0].components, i)
	}
	return l
}

// drawLayout draws a layout for a picture, and reports whether image/jpeg reads it correctly. In scans of one
// component, image/jpeg counts MCUs of the whole frame for restarts.
func drawLayout(t *rapid.T, p *picture) (l layout, standardReads bool) {
	l = plain(p)
	l.frame = rapid.SampledFrom([]byte{baselineFrame, extendedFrame, progressiveFrame}).Draw(t, "frame")
	l.interval = rapid.SampledFrom([]int{0, 0, 1, 2, 3, 7, 20}).Draw(t, "interval")
	l.longestRun = rapid.SampledFrom([]int{1, 2, 5, 100, 32767}).Draw(t, "longest run")
	if spread := rapid.IntRange(0, 20).Draw(t, "spread of code lengths"); spread > 0 {
		l.skew = func(symbol byte, _ int) int { return 1 << (int(symbol) * 7 % spread) }
	}
	all := l.scans[0].components
	single := len(all) > 1 && rapid.Bool().Draw(t, "one component in a scan")
	if single || l.frame == progressiveFrame {
		l.scans = nil
	}
	passes := func(components []int, first, last int) {
		low := rapid.IntRange(0, 3).Draw(t, "low bits")
		l.scans = append(l.scans, pass{components: components, first: first, last: last, low: low})
		for ; low > 0; low-- {
			l.scans = append(l.scans, pass{components: components, first: first, last: last, before: low, low: low - 1})
		}
	}
	for i := range all {
		switch {
		case l.frame != progressiveFrame && single:
			l.scans = append(l.scans, pass{components: all[i : i+1], last: 63})
		case l.frame == progressiveFrame && single:
			passes(all[i:i+1], 0, 0)
		case l.frame == progressiveFrame && i == 0:
			passes(all, 0, 0)
		}
	}
	for i := 0; l.frame == progressiveFrame && i < len(all); i++ {
		for first := 1; first < 64; {
			last := rapid.IntRange(first, 63).Draw(t, "last of band")
			passes(all[i:i+1], first, last)
			first = last + 1
		}
	}
	first := p.planes[0]
	whole := first.horizontal*first.vertical == 1
	return l, whole || !single && l.frame != progressiveFrame || l.interval == 0 &&
		(len(p.planes) == 1 || p.planes[1].horizontal*p.planes[1].vertical == 1)
}

// samplesOf returns the planes of an image with their widths.
func samplesOf(img image.Image) (planes [][]byte) {
	size := img.Bounds().Size()
	crop := func(pix []byte, stride, width, height int) {
		var out []byte
		for y := range height {
			out = append(out, pix[y*stride:][:width]...)
		}
		planes = append(planes, out)
	}
	switch img := img.(type) {
	case *image.Gray:
		crop(img.Pix, img.Stride, size.X, size.Y)
	case *image.RGBA:
		crop(img.Pix, img.Stride, 4*size.X, size.Y)
	case *image.CMYK:
		crop(img.Pix, img.Stride, 4*size.X, size.Y)
	case *image.YCbCr:
		crop(img.Y, img.YStride, size.X, size.Y)
		last := img.COffset(size.X-1, size.Y-1)
		crop(img.Cb, img.CStride, last%img.CStride+1, last/img.CStride+1)
		crop(img.Cr, img.CStride, last%img.CStride+1, last/img.CStride+1)
	}
	return planes
}

func TestAWholeImageIsWithinOneOfTheStandardLibrary(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		p := drawPicture(t, false)
		l, standardReads := drawLayout(t, p)
		file := p.encode(l)
		reference := file
		if !standardReads {
			reference = p.encode(plain(p))
		}
		want, err := standard.Decode(bytes.NewReader(reference))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(file, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got.Bounds() != want.Bounds() || got.ColorModel() != want.ColorModel() {
			t.Fatalf("got %T of %v, want %T of %v", got, got.Bounds(), want, want.Bounds())
		}
		if ycbcr, ok := got.(*image.YCbCr); ok && ycbcr.SubsampleRatio != want.(*image.YCbCr).SubsampleRatio {
			t.Fatalf("got %v, want %v", ycbcr.SubsampleRatio, want.(*image.YCbCr).SubsampleRatio)
		}
		tolerance := 1
		if cmyk, ok := got.(*image.CMYK); ok && len(cmyk.Pix) > 0 {
			tolerance = 3 // converted from YCbCr
		}
		gots, wants := samplesOf(got), samplesOf(want)
		for i := range wants {
			for j := range wants[i] {
				if d := int(gots[i][j]) - int(wants[i][j]); d > tolerance || d < -tolerance {
					t.Fatalf("plane %d has %d at %d, want %d", i, gots[i][j], j, wants[i][j])
				}
			}
		}
	})
}
