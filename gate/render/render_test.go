package render

import (
	"bytes"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"image/png"
	"math"
	"os"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// storedAt returns the stored position of a pixel of an upright image, as defined by EXIF.
func storedAt(orientation, x, y int, upright image.Point) (storedX, storedY int) {
	right, bottom := upright.X-1-x, upright.Y-1-y
	switch orientation {
	case 2:
		return right, y
	case 3:
		return right, bottom
	case 4:
		return x, bottom
	case 5:
		return y, x
	case 6:
		return y, right
	case 7:
		return bottom, right
	case 8:
		return bottom, x
	}
	return x, y
}

func storedSize(orientation int, upright image.Point) image.Rectangle {
	if orientation > 4 {
		return image.Rect(0, 0, upright.Y, upright.X)
	}
	return image.Rectangle{Max: upright}
}

func infoOf(size image.Point, format string, orientation int) original.Info {
	return original.Info{
		Format: format, Orientation: orientation, Size: request.Size{Width: size.X, Height: size.Y}, BytesPerPixel: 4,
	}
}

// ramp is a brightness that differs at each position, from 0 to 1 in both directions.
func ramp(x, y float64) float64 { return 40 + 120*x + 60*y }

// For any orientation and format, a result shows the requested part at the right position.
func TestAResultShowsThePartThatIsAskedFor(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		side := rapid.OneOf(rapid.IntRange(20, 90), rapid.IntRange(200, 600))
		size := image.Pt(side.Draw(t, "width"), side.Draw(t, "height"))
		orientation := rapid.IntRange(1, 8).Draw(t, "orientation")
		stored := image.NewGray(storedSize(orientation, size))
		for y := range size.Y {
			for x := range size.X {
				storedX, storedY := storedAt(orientation, x, y, size)
				v := ramp((float64(x)+.5)/float64(size.X), (float64(y)+.5)/float64(size.Y))
				stored.SetGray(storedX, storedY, color.Gray{level(v)})
			}
		}
		var from image.Image = stored
		if rapid.Bool().Draw(t, "color") {
			colored := image.NewYCbCr(stored.Rect, rapid.SampledFrom([]image.YCbCrSubsampleRatio{
				image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
				image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
			}).Draw(t, "sampling"))
			for y := range stored.Rect.Dy() {
				for x := range stored.Rect.Dx() {
					at := colored.COffset(x, y)
					colored.Y[colored.YOffset(x, y)] = 128
					colored.Cb[at], colored.Cr[at] = stored.GrayAt(x, y).Y, stored.GrayAt(x, y).Y
				}
			}
			from = colored
		}
		transform := request.Transform{
			Fit:   rapid.SampledFrom([]string{request.FitScale, request.FitCrop}).Draw(t, "fit"),
			Width: rapid.IntRange(8, 100).Draw(t, "w"), Height: rapid.IntRange(8, 100).Draw(t, "h"),
		}
		if transform.Fit == request.FitCrop {
			transform.Crop = rapid.SampledFrom([]string{"", "top", "bottom,left", "right", "top,right"}).Draw(t, "crop")
		}
		p := New(infoOf(size, "png", orientation), transform, false)
		got := p.resize(from)
		if got.Bounds() != image.Rect(0, 0, transform.Width, transform.Height) {
			t.Fatalf("%v, want %dx%d", got.Bounds(), transform.Width, transform.Height)
		}
		scaled := transform.Scaled(p.info.Size)
		left, top := offset(transform.Crop, "left", "right", scaled.Width-transform.Width),
			offset(transform.Crop, "top", "bottom", scaled.Height-transform.Height)
		// A chroma sample covers up to four pixels, and edges are averaged with fewer.
		slack := 3 + 240/float64(min(scaled.Width, scaled.Height)) + 4*180/float64(min(size.X, size.Y))
		for y := range transform.Height {
			for x := range transform.Width {
				want := ramp((float64(left+x)+.5)/float64(scaled.Width), (float64(top+y)+.5)/float64(scaled.Height))
				var found float64
				switch img := got.(type) {
				case *image.Gray:
					found = float64(img.GrayAt(x, y).Y)
				case *image.YCbCr:
					found = float64(img.Cb[img.COffset(x, y)])
				}
				if math.Abs(found-want) > slack {
					t.Fatalf("%.0f at %d,%d, want %.1f", found, x, y, want)
				}
			}
		}
	})
}

// An image that is only rotated keeps all pixels and their colors.
func TestAnImageIsTurnedWithoutALoss(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "height"))
		orientation := rapid.IntRange(1, 8).Draw(t, "orientation")
		stored := image.NewRGBA(storedSize(orientation, size))
		for i := range stored.Pix {
			stored.Pix[i] = byte(i * 37)
		}
		got := New(infoOf(size, "png", orientation), request.Transform{}, false).resize(stored).(*image.RGBA)
		for y := range size.Y {
			for x := range size.X {
				storedX, storedY := storedAt(orientation, x, y, size)
				if want := stored.RGBAAt(storedX, storedY); got.Bounds().Size() != size || got.RGBAAt(x, y) != want {
					t.Fatalf("orientation %d, %v at %d,%d: %v, want %v", orientation, size, x, y, got.RGBAAt(x, y), want)
				}
			}
		}
	})
}

// photograph has smooth gradients, edges and texture.
func photograph(width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			fx, fy := float64(x)/float64(width), float64(y)/float64(height)
			v := 128 + 60*math.Sin(9*fx+5*fy*fy) + 30*math.Sin(80*fx*fy)
			if math.Hypot(fx-.6, fy-.4) < .2 {
				v = 220 - v/2
			}
			img.SetRGBA(x, y, color.RGBA{level(v), level(v*.8 + 30*fy), level(255 - v + 20*fx), 255})
		}
	}
	return img
}

func asJPEG(img image.Image, quality int) []byte {
	var out bytes.Buffer
	if err := stdjpeg.Encode(&out, img, &stdjpeg.Options{Quality: quality}); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// Decoding at a smaller scale makes no visible difference, at any size of the result.
func TestDecodingAtASmallerScaleIsNotVisible(t *testing.T) {
	body := asJPEG(photograph(1600, 1200), 90)
	info, err := original.Inspect(body)
	if err != nil {
		t.Fatal(err)
	}
	used := map[int]bool{}
	for _, width := range []int{100, 133, 160, 200, 270, 333, 400, 555, 660, 801, 1500} {
		p := New(info, request.Transform{Width: width}, false)
		used[p.denominator] = true
		img := map[int]*image.YCbCr{}
		for _, denominator := range []int{1, p.denominator} {
			p.denominator = denominator
			decoded, err := decode(body, info, denominator)
			if err != nil {
				t.Fatal(err)
			}
			if decoded.Bounds().Dx() < width {
				t.Errorf("w=%d is made of %v", width, decoded.Bounds())
			}
			img[denominator] = p.resize(decoded).(*image.YCbCr)
		}
		var sum float64
		for i, want := range img[1].Y {
			d := float64(want) - float64(img[p.denominator].Y[i])
			sum += d * d
		}
		if alike := 10 * math.Log10(255*255*float64(len(img[1].Y))/max(sum, 1)); alike < 40 {
			t.Errorf("w=%d at 1/%d: %.1f dB", width, p.denominator, alike)
		}
	}
	if len(used) != 4 {
		t.Errorf("scales: %v", used)
	}
}

// Video uses BT.601 with limited range, and each value is rounded several times.
func TestColorsOfVideoAreConverted(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		var rgb [3]float64
		for i := range rgb {
			rgb[i] = rapid.Float64Range(0, 1).Draw(t, "rgb")
		}
		r, g, b := rgb[0], rgb[1], rgb[2]
		img := image.NewYCbCr(image.Rect(0, 0, 1, 1), image.YCbCrSubsampleRatio444)
		img.Y[0] = uint8(16 + 65.481*r + 128.553*g + 24.966*b + .5)
		img.Cb[0] = uint8(128 - 37.797*r - 74.203*g + 112*b + .5)
		img.Cr[0] = uint8(128 + 112*r - 93.786*g - 18.214*b + .5)
		widen(img)
		got := color.RGBAModel.Convert(img.At(0, 0)).(color.RGBA)
		for i, found := range []uint8{got.R, got.G, got.B} {
			if difference := float64(found) - 255*rgb[i]; math.Abs(difference) > 4 {
				t.Errorf("channel %d of %v: %d", i, rgb, found)
			}
		}
	})
}

// A result needs no more memory than its weight, and not much less.
func TestAResultNeedsTheMemoryThatIsExpected(t *testing.T) {
	bounds := image.Rect(0, 0, 992, 992) // whole blocks
	asPNG := func(img image.Image) []byte {
		var out bytes.Buffer
		if err := png.Encode(&out, img); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	files := map[string][]byte{
		"photograph": asJPEG(image.NewRGBA(bounds), 75), "gray photograph": asJPEG(image.NewGray(bounds), 75),
		"PNG": asPNG(image.NewNRGBA(bounds)), "deep PNG": asPNG(image.NewNRGBA64(bounds)),
	}
	for _, name := range []string{"progressive.jpg", "cmyk.jpg"} {
		body, err := os.ReadFile("../testdata/corpus/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = body
	}
	for name, file := range files {
		for _, width := range []int{60, 300, 990} {
			info, err := original.Inspect(file)
			if err != nil || info.Format == "" {
				t.Fatalf("%s: %+v %v", name, info, err)
			}
			info.Orientation = 6
			info.Size.Width, info.Size.Height = info.Size.Height, info.Size.Width
			p := New(info, request.Transform{Width: width}, false)
			decoded, inDecoder := allocated(func() (img image.Image) {
				if img, err = decode(file, info, p.denominator); err != nil {
					t.Fatal(err)
				}
				return img
			})
			_, inResult := allocated(func() image.Image { return p.resize(decoded) })
			if info.JPEG.Samples == 1.5 {
				inResult -= float64(p.size.Pixels()) / 2 // planes are rotated one after another
			}
			taken, expected := inDecoder+inResult, float64(p.Weight)
			if info.JPEG.Progressive { // its coefficients are dropped
				samples := info.JPEG.Samples * float64(info.Size.Pixels()) / float64(p.denominator*p.denominator)
				taken = max(inDecoder-samples+samples/info.JPEG.Samples, samples+inResult)
			}
			if taken > 1.1*expected+200_000 || expected > 3*taken+200_000 {
				t.Errorf("%s, w=%d: %.1f MB, expected %.1f", name, width, taken/1e6, expected/1e6)
			}
		}
	}
}

// With the default limit, photos of phones and cameras can be rotated at full size.
func TestPhotosFitIntoTheDefaultMemory(t *testing.T) {
	for name, info := range map[string]original.Info{
		"24 megapixels": {JPEG: original.JPEG{Samples: 1.5}, Size: request.Size{Width: 4000, Height: 6000}},
		"24 megapixels, progressive": {
			JPEG: original.JPEG{Samples: 1.5, Progressive: true}, Size: request.Size{Width: 4000, Height: 6000},
		},
		"12 megapixels with all colors, progressive": {
			JPEG: original.JPEG{Samples: 3, Progressive: true}, Size: request.Size{Width: 3000, Height: 4000},
		},
	} {
		info.Format, info.Orientation = "jpeg", 6
		for purpose, plan := range map[string]Plan{
			"result": New(info, request.Transform{Auto: "compress"}, false), "file for Darkroom": Upright(info),
		} {
			if plan.Weight > 512<<20/5 {
				t.Errorf("%s: the %s needs %d MiB", name, purpose, plan.Weight>>20)
			}
		}
	}
}

// allocated returns the allocated memory of an image, in bytes.
func allocated(create func() image.Image) (image.Image, float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	img := create()
	runtime.ReadMemStats(&after)
	return img, float64(after.TotalAlloc - before.TotalAlloc)
}
