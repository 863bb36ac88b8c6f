package prepare

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// storedAt returns where a camera stores a pixel of an upright image of a size, by the definition of EXIF.
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

// A pixel is where it belongs, and has its color, whatever an image is stored as.
func TestUprightImagesAreThoseThatWereStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "height"))
		orientation := rapid.IntRange(1, 8).Draw(t, "orientation")
		bounds := storedSize(orientation, size)
		info := original.Info{Format: "png", Orientation: orientation}
		var stored image.Image
		var pixels []byte
		const tones = 64 // of all channels together
		switch kind := rapid.SampledFrom([]string{
			"NRGBA", "RGBA", "gray PNG", "gray JPEG", "JPEG", "WebP",
			"WebP with alpha",
		}).Draw(t, "kind"); kind {
		case "NRGBA":
			img := image.NewNRGBA(bounds)
			stored, pixels = img, img.Pix
		case "RGBA":
			img := image.NewRGBA(bounds)
			stored = img
			for i := range img.Pix {
				img.Pix[i] = 255
			}
			for i := 0; i < len(img.Pix); i += 4 {
				img.Pix[i] = byte(i * 7)
			}
		case "gray PNG", "gray JPEG":
			img := image.NewGray(bounds)
			stored, pixels = img, img.Pix
			if kind == "gray JPEG" {
				info.Format = "jpeg"
			}
		default:
			img := image.NewNYCbCrA(bounds, image.YCbCrSubsampleRatio444)
			for i := range img.A {
				img.A[i], img.Y[i], img.Cb[i], img.Cr[i] = byte(255-i), byte(16+i*tones/81), byte(100+i), byte(120+i/2)
			}
			stored, info.Format = img, "webp"
			if kind != "WebP with alpha" {
				stored = &img.YCbCr
			}
			if kind == "JPEG" { // one color, as a result has half the colors of an original
				for i := range img.Cb {
					img.Cb[i], img.Cr[i] = 99, 150
				}
				info.Format = "jpeg"
			}
		}
		for i := range pixels {
			pixels[i] = byte(i)
		}
		upright := Upright(stored, info)
		if upright.Bounds().Size() != size {
			t.Fatalf("%v, want %v", upright.Bounds(), size)
		}
		for y := range size.Y {
			for x := range size.X {
				storedX, storedY := storedAt(orientation, x, y, size)
				want := color.NRGBAModel.Convert(stored.At(storedX, storedY)).(color.NRGBA)
				if ycc, ok := stored.At(storedX, storedY).(color.YCbCr); ok && info.Format == "webp" && orientation != 1 {
					want = fromVideo(ycc, 255)
				}
				if img, ok := stored.(*image.NYCbCrA); ok && orientation != 1 {
					want = fromVideo(img.YCbCrAt(storedX, storedY), img.A[img.AOffset(storedX, storedY)])
				}
				if got := color.NRGBAModel.Convert(upright.At(x, y)); got != want {
					t.Fatalf("orientation %d, %v at %d,%d: %v, want %v", orientation, size, x, y, got, want)
				}
			}
		}
	})
}

// Colors of video are those of BT.601, with its limited range; each digit of a color is rounded twice.
func TestColorsOfVideoAreConverted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, g, b := rapid.Float64Range(0, 1).Draw(t, "r"), rapid.Float64Range(0, 1).Draw(t, "g"),
			rapid.Float64Range(0, 1).Draw(t, "b")
		video := color.YCbCr{
			Y:  uint8(16 + 65.481*r + 128.553*g + 24.966*b + .5),
			Cb: uint8(128 - 37.797*r - 74.203*g + 112*b + .5),
			Cr: uint8(128 + 112*r - 93.786*g - 18.214*b + .5),
		}
		got := fromVideo(video, 7)
		for i, pair := range [][2]float64{{float64(got.R), 255 * r}, {float64(got.G), 255 * g}, {float64(got.B), 255 * b}} {
			if difference := pair[0] - pair[1]; difference > 2.2 || difference < -2.2 {
				t.Errorf("channel %d of %v: %.0f, want %.1f", i, video, pair[0], pair[1])
			}
		}
		if got.A != 7 {
			t.Errorf("alpha %d", got.A)
		}
	})
	white, black := fromVideo(color.YCbCr{255, 128, 128}, 255), fromVideo(color.YCbCr{0, 128, 128}, 255)
	if white.G != 255 || black.G != 0 {
		t.Errorf("beyond the range: %v %v", white, black)
	}
}

// What is turned or shrunk is a file of the same kind as before, or PNG, upright, and as large as was planned:
// an image of fine lines is not shrunk, unless there is no memory to turn all of its pixels.
func TestPlansMakeUprightFilesOfTheirSize(t *testing.T) {
	smooth, fine := image.NewYCbCr(image.Rect(0, 0, 60, 40), image.YCbCrSubsampleRatio420),
		image.NewYCbCr(image.Rect(0, 0, 60, 40), image.YCbCrSubsampleRatio420)
	for i := range fine.Y {
		smooth.Y[i], fine.Y[i] = 128, byte(255*((i%fine.YStride/4+i/fine.YStride/4)%2))
	}
	for name, test := range map[string]struct {
		img    image.Image
		format string
		fine   bool
	}{
		"photograph": {smooth, "jpeg", false}, "line art": {fine, "jpeg", true},
		"gray": {image.NewGray(smooth.Rect), "jpeg", false},
		"CMYK": {image.NewCMYK(smooth.Rect), "jpeg", true}, "PNG": {image.NewNRGBA(smooth.Rect), "png", true},
		"WebP": {smooth, "webp", true},
	} {
		for orientation := 1; orientation <= 8; orientation++ {
			for _, plan := range []Plan{{Factor: 1}, {Factor: 4}, {Factor: 4, Always: true}} {
				info := original.Info{Format: test.format, Orientation: orientation}
				if orientation != 1 {
					plan.Orientation = orientation
				}
				want := image.Pt(60, 40)
				if averaged := name == "photograph" || name == "gray" || name == "line art" && plan.Always; averaged {
					want = want.Div(plan.Factor)
				} else if plan.Orientation == 0 && (name != "line art" || plan.Factor > 1) {
					want = image.Point{}
				}
				if orientation > 4 {
					want.X, want.Y = want.Y, want.X
				}
				file, err := plan.Do(test.img, info, request.Size{Width: 15, Height: 10})
				if err != nil {
					t.Fatal(err)
				}
				var got image.Config
				decode, kind := png.DecodeConfig, "png"
				if test.format == "jpeg" {
					decode, kind = jpeg.DecodeConfig, "jpeg"
				}
				if file != nil {
					if got, err = decode(bytes.NewReader(file)); err != nil {
						t.Errorf("%s is no %s file: %v", name, kind, err)
					}
				}
				if image.Pt(got.Width, got.Height) != want {
					t.Errorf("%s, orientation %d, %+v: %dx%d, want %v", name, orientation, plan, got.Width, got.Height, want)
				}
			}
		}
	}
}

// Decoding an image and turning it takes what is expected, and not much less.
func TestTurningNeedsTheMemoryThatIsExpected(t *testing.T) {
	bounds := image.Rect(0, 0, 992, 992) // whole blocks
	encoded := func(err error, b *bytes.Buffer) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	asPNG := func(img image.Image) []byte {
		var b bytes.Buffer
		return encoded(png.Encode(&b, img), &b)
	}
	asJPEG := func(img image.Image) []byte {
		var b bytes.Buffer
		return encoded(jpeg.Encode(&b, img, nil), &b)
	}
	files := map[string][]byte{
		"photograph": asJPEG(image.NewRGBA(bounds)), "gray photograph": asJPEG(image.NewGray(bounds)),
		"PNG": asPNG(image.NewNRGBA(bounds)), "gray PNG": asPNG(image.NewGray(bounds)),
		"deep PNG": asPNG(image.NewNRGBA64(bounds)),
	}
	for _, name := range []string{"progressive.jpg", "cmyk.jpg"} {
		body, err := os.ReadFile("../testdata/corpus/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = body
	}
	for name, file := range files {
		info, err := original.Inspect(file)
		if err != nil || info.Format == "" {
			t.Fatalf("%s: %+v %v", name, info, err)
		}
		info.Orientation = 6
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		decoded, err := Decode(file, info)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		Upright(decoded, info)
		if name != "progressive.jpg" { // whose decoder needs more than the image and a copy, and ends before
			runtime.ReadMemStats(&after)
		}
		taken, expected := float64(after.TotalAlloc-before.TotalAlloc), float64(DecodedWeight(info))
		if taken > 1.1*expected+200_000 || expected > 2.2*taken {
			t.Errorf("%s of %v: %.1f MB, expected %.1f", name, info.Size, taken/1e6, expected/1e6)
		}
	}
}
