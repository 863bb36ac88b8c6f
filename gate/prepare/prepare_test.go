package prepare

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/draw"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// photograph has smooth gradients, edges, texture and noise.
func photograph(width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	random := rand.New(rand.NewPCG(1, 2))
	for y := range height {
		for x := range width {
			fx, fy := float64(x)/float64(width), float64(y)/float64(height)
			v := 128 + 60*math.Sin(9*fx+5*fy*fy) + 30*math.Sin(80*fx*fy) + 8*random.NormFloat64()
			if math.Hypot(fx-.6, fy-.4) < .2 {
				v = 220 - v/2
			}
			img.SetRGBA(x, y, color.RGBA{level(v), level(v*.8 + 30*fy), level(255 - v + 20*fx), 255})
		}
	}
	return img
}

// lineArt has thin black lines on white.
func lineArt(width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{255, 255, 255, 255}
			if x%97 < 4 || y%61 < 3 || (x+y)%151 < 5 || int(math.Hypot(float64(x-width/2), float64(y-height/2)))%83 < 4 {
				c = color.RGBA{0, 0, 0, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func level(v float64) uint8 { return uint8(max(0, min(255, v))) }

func gray(img image.Image) image.Image {
	out := image.NewGray(img.Bounds())
	draw.Draw(out, out.Rect, img, image.Point{}, draw.Src)
	return out
}

// resize scales like Darkroom, by a triangle filter over all pixels.
func resize(t *testing.T, file []byte, size request.Size) image.Image {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	scaled := image.NewRGBA(image.Rect(0, 0, size.Width, size.Height))
	draw.BiLinear.Scale(scaled, scaled.Rect, img, img.Bounds(), draw.Src, nil)
	return scaled
}

// psnr is the ratio of signal and difference of two images, in decibels.
func psnr(a, b image.Image) float64 {
	var sum float64
	bounds := a.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			ar, ag, ab, _ := a.At(x, y).RGBA()
			br, bg, bb, _ := b.At(x, y).RGBA()
			for _, d := range []float64{
				float64(ar>>8) - float64(br>>8), float64(ag>>8) - float64(bg>>8),
				float64(ab>>8) - float64(bb>>8),
			} {
				sum += d * d
			}
		}
	}
	return 10 * math.Log10(255*255/(sum/float64(3*bounds.Dx()*bounds.Dy())))
}

// inspect encodes an image as JPEG.
func inspect(t *testing.T, img image.Image) ([]byte, original.Info) {
	t.Helper()
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	info, err := original.Inspect(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), info
}

func TestTheResultDiffersInvisiblyFromThatOfTheOriginal(t *testing.T) {
	for name, img := range map[string]image.Image{
		"photograph": photograph(1600, 1201), "line art": lineArt(1603, 1200),
		"gray photograph": gray(photograph(1600, 1200)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, info := inspect(t, img)
			for _, width := range []int{80, 150, 300} {
				wanted := request.Transform{Width: width}
				size := wanted.Scaled(info.Size)
				exact := Exact(wanted, info.Size)
				if exact.Width != size.Width || exact.Height != size.Height || exact.Fit != request.FitScale {
					t.Errorf("asked for %+v, want %v", exact, size)
				}
				plan := New(info, wanted, true, 1<<30)
				smaller := do(t, plan, file, info, size)
				if (smaller == nil) != (name == "line art") {
					t.Fatalf("to %d: %d bytes", width, len(smaller))
				}
				if smaller == nil {
					continue
				}
				got := psnr(resize(t, file, size), resize(t, smaller, size))
				t.Logf("to %d, factor %d: %.1f dB", width, plan.Factor, got)
				if got < 38 {
					t.Errorf("to %d, factor %d: %.1f dB", width, plan.Factor, got)
				}
			}
		})
	}
}

func TestImagesThatMustBeLeftAlone(t *testing.T) {
	large := original.Info{Format: "jpeg", Size: request.Size{Width: 4000, Height: 3000}}
	cmyk, png, small := large, large, large
	cmyk.JPEG.CMYK = true
	png.Format = "png"
	small.Size = request.Size{Width: 1000, Height: 800}
	for name, test := range map[string]struct {
		info      original.Info
		transform request.Transform
		want      int
	}{
		"thumbnail":     {large, request.Transform{Width: 300}, 6},
		"square":        {large, request.Transform{Width: 300, Height: 300, Fit: request.FitCrop}, 5},
		"half the size": {large, request.Transform{Width: 2000}, 1},
		"no size":       {large, request.Transform{Rotate: 90}, 1},
		"narrow crop":   {large, request.Transform{Width: 10, Height: 3000, Fit: request.FitCrop}, 1},
		"CMYK":          {cmyk, request.Transform{Width: 300}, 1},
		"PNG":           {png, request.Transform{Width: 300}, 1},
		"small":         {small, request.Transform{Width: 10}, 1},
	} {
		if got := factor(test.info, test.transform); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func do(t *testing.T, plan Plan, file []byte, info original.Info, size request.Size) []byte {
	t.Helper()
	decoded, err := Decode(file, info)
	if err != nil {
		t.Fatal(err)
	}
	made, err := plan.Do(decoded, info, size)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestPlansStayWithinTheMemory(t *testing.T) {
	const mib = 1 << 20
	photo := original.Info{
		Format: "jpeg", Size: request.Size{Width: 4000, Height: 3000}, Orientation: 1, BytesPerPixel: 3,
		JPEG: original.JPEG{Samples: 1.5},
	}
	turned, progressive := photo, photo
	turned.Orientation = 6
	progressive.JPEG.Progressive, progressive.BytesPerPixel = true, 15
	small, large := request.Transform{Width: 300}, request.Transform{Width: 2000}
	for name, test := range map[string]struct {
		info      original.Info
		transform request.Transform
		memory    int64
		want      Plan
	}{
		"shrunk":                      {photo, small, 100 * mib, Plan{Factor: 6, Weight: 17}},
		"large result":                {photo, large, 100 * mib, Plan{}},
		"shrunk, no memory":           {photo, small, 10 * mib, Plan{}},
		"turned":                      {turned, large, 100 * mib, Plan{Factor: 1, Orientation: 6, Weight: 34}},
		"turned, no memory":           {turned, large, 10 * mib, Plan{Factor: 1, Orientation: 6, Weight: 34}},
		"turned and shrunk":           {turned, small, 100 * mib, Plan{Factor: 6, Orientation: 6, Weight: 34}},
		"turned, memory for one":      {turned, small, 20 * mib, Plan{Factor: 6, Orientation: 6, Weight: 17, Always: true}},
		"progressive":                 {progressive, small, 100 * mib, Plan{Factor: 6, Weight: 87}},
		"progressive, too much of it": {progressive, small, 80 * mib, Plan{}},
	} {
		got := New(test.info, test.transform, true, test.memory)
		got.Weight /= mib
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// An image is shrunk, or turned, as long as there is the memory for it, to the byte; and what is needed are the
// decoded image and the file that is made of it.
func TestPlansUseTheMemoryThatThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SampledFrom([]float64{1, 1.5, 2, 3}).Draw(t, "samples")
		info := original.Info{
			Format: "jpeg", BytesPerPixel: 3, JPEG: original.JPEG{Samples: samples},
			Orientation: rapid.IntRange(1, 8).Draw(t, "orientation"),
			Size: request.Size{
				Width:  rapid.IntRange(1024, 5000).Draw(t, "width"),
				Height: rapid.IntRange(1024, 5000).Draw(t, "height"),
			},
		}
		thumbnail := request.Transform{Width: rapid.IntRange(1, 256).Draw(t, "w"), Height: 100, Fit: request.FitScale}
		whole := DecodedWeight(info)
		plan := New(info, thumbnail, true, whole)
		if again := New(info, thumbnail, true, plan.Weight); plan.Factor < 2 || again != plan {
			t.Fatalf("%+v within %d bytes, %+v within %d", plan, whole, again, plan.Weight)
		}
		less := New(info, thumbnail, true, plan.Weight-1)
		if plan.Orientation == 0 {
			if less != (Plan{}) {
				t.Errorf("%+v within %d bytes", less, plan.Weight-1)
			}
			return
		}
		part := 1 + 1/float64(plan.Factor*plan.Factor)
		atLeast := int64(float64(info.Size.Pixels()) * samples * part)
		most := int64(float64(request.Size{
			Width:  info.Size.Width + 32,
			Height: info.Size.Height + 32,
		}.Pixels()) * samples * part)
		if plan.Weight != whole || plan.Always || !less.Always || less.Weight < atLeast || less.Weight > most {
			t.Errorf("%+v within %d bytes, and %+v within less, want from %d to %d", plan, whole, less, atLeast, most)
		}
	})
}

// All chroma subsamplings, and sides that the factor does not divide.
func TestAveragesOfAUniformImageAreUniform(t *testing.T) {
	for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
		img := image.NewYCbCr(image.Rect(0, 0, 37, 23), ratio)
		for _, p := range [][]uint8{img.Y, img.Cb, img.Cr} {
			for i := range p {
				p[i] = 99
			}
		}
		out := Plan{Factor: 3}.average(img, original.Info{Format: "jpeg"}).(*image.YCbCr)
		if out.Rect != image.Rect(0, 0, 12, 7) {
			t.Errorf("%v: %v", ratio, out.Rect)
		}
		for _, p := range [][]uint8{out.Y, out.Cb, out.Cr} {
			for _, v := range p {
				if v != 99 {
					t.Fatalf("%v: %d", ratio, v)
				}
			}
		}
	}
}
