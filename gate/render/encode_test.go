package render

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"golang.org/x/image/webp"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// drawImage draws a gradient with noise, and with one of three kinds of alpha.
func drawImage(t *rapid.T) *image.NRGBA {
	size := image.Pt(rapid.IntRange(1, 90).Draw(t, "width"), rapid.IntRange(1, 90).Draw(t, "height"))
	noise := rapid.IntRange(0, 255).Draw(t, "noise")
	alpha := rapid.SampledFrom([]string{"opaque", "gradient", "noise"}).Draw(t, "alpha")
	random := rapid.Uint32().Draw(t, "seed") | 1
	next := func() int {
		random ^= random << 13
		random ^= random >> 17
		random ^= random << 5
		return int(random >> 8 & 0xff)
	}
	img := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			c := color.NRGBA{A: 255, B: 90}
			c.R, c.G = uint8((x*255/size.X*(255-noise)+next()*noise)/255), uint8((y*255/size.Y*(255-noise)+next()*noise)/255)
			switch alpha {
			case "gradient":
				c.A = uint8(255 * x / size.X)
			case "noise":
				c.A = uint8(next())
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func asPNG(img image.Image, level png.CompressionLevel) []byte {
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: level}).Encode(&out, img); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// do renders a file.
func do(t testing.TB, body []byte, transform request.Transform, asWebP bool) []byte {
	t.Helper()
	info, err := original.Inspect(body)
	if err != nil {
		t.Fatal(err)
	}
	made, err := render(t, body, New(info, transform, asWebP))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func render(t testing.TB, body []byte, p Plan) ([]byte, error) {
	pixels, err := Decode(t.Context(), body, []Plan{p})
	if err != nil {
		return nil, err
	}
	return pixels.Make(t.Context(), body, p)
}

// No result with the original size is larger than the original, and results keep the alpha channel, as another decoder
// confirms. Opaque PNG files may become JPEG files, and all files may become WebP for clients that accept it.
func TestAResultIsNotLargerThanTheOriginalAndAsTransparent(t *testing.T) {
	types := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		img, asWebP := drawImage(rt), rapid.Bool().Draw(rt, "accepts WebP")
		level := rapid.SampledFrom([]png.CompressionLevel{png.NoCompression, png.BestCompression}).Draw(rt, "compression")
		body := asPNG(img, level)
		isPNG := rapid.Bool().Draw(rt, "png")
		if !isPNG {
			body = asJPEG(img, rapid.SampledFrom([]int{30, 100}).Draw(rt, "quality of the original"))
		}
		transform := request.Transform{Quality: rapid.IntRange(1, 100).Draw(rt, "quality")}
		made := do(t, body, transform, asWebP)
		kind := original.Type(made)
		types[kind]++
		if len(made) > len(body) || kind == "image/webp" && !asWebP || kind == "image/png" && !isPNG ||
			kind == "image/jpeg" && isPNG && !img.Opaque() {
			rt.Fatalf("%s of %d bytes, the original has %d", kind, len(made), len(body))
		}
		got, _, err := image.Decode(bytes.NewReader(made))
		if kind == "image/webp" {
			got, err = webp.Decode(bytes.NewReader(made))
		}
		if err != nil || got.Bounds() != img.Rect {
			rt.Fatalf("%v, want %v: %v", got.Bounds(), img.Rect, err)
		}
		for i := range img.Rect.Dx() * img.Rect.Dy() {
			_, _, _, alpha := got.At(i%img.Rect.Dx(), i/img.Rect.Dx()).RGBA()
			if want := img.Pix[4*i+3]; isPNG && uint8(alpha>>8) != want || !isPNG && alpha != 0xffff {
				rt.Fatalf("alpha %d at %d, want %d", alpha>>8, i, want)
			}
		}
	})
	if len(types) != 3 {
		t.Errorf("types: %v", types)
	}
}

// Smooth areas show no blocks: they match the original with 49 dB, and with 47 dB without the loop filter.
func TestSmoothAreasStaySmooth(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 160, 120))
	for i := range img.Pix {
		x, y := float64(i%160)/160, float64(i/160)/120
		img.Pix[i] = uint8(30 + 150*x*(1-y/2) + 60*y*y)
	}
	decoded, err := webp.Decode(bytes.NewReader(do(t, asPNG(img, png.NoCompression), request.Transform{}, true)))
	if err != nil {
		t.Fatal(err)
	}
	luma := decoded.(*image.YCbCr)
	widen(luma)
	var sum float64
	for i, want := range img.Pix {
		d := float64(luma.Y[luma.YOffset(i%160, i/160)]) - float64(want)
		sum += d * d
	}
	if alike := 10 * math.Log10(255*255*float64(len(img.Pix))/sum); alike < 48 {
		t.Errorf("%.1f dB", alike)
	}
}

// The encoder of WebP receives the nearest color, as dark images would be darker otherwise.
func TestColorsAreRoundedToTheNearestLevel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 9).Draw(rt, "width"), rapid.IntRange(1, 9).Draw(rt, "height"))
		img := image.NewYCbCr(image.Rectangle{Max: size}, image.YCbCrSubsampleRatio420)
		for _, plane := range [][]byte{img.Y, img.Cb, img.Cr} {
			copy(plane, rapid.SliceOfN(rapid.Byte(), len(plane), len(plane)).Draw(rt, "plane"))
		}
		converted := rgbaOf(img)
		for i := range size.X * size.Y {
			x, y := i%size.X, i/size.X
			c := img.YCbCrAt(x, y)
			luma, blue, red := float64(c.Y), float64(c.Cb)-128, float64(c.Cr)-128
			want := [3]float64{luma + 1.402*red, luma - 0.344136*blue - 0.714136*red, luma + 1.772*blue}
			got := converted.RGBAAt(x, y)
			for channel, level := range []byte{got.R, got.G, got.B} {
				if exact := max(0, min(want[channel], 255)); math.Abs(float64(level)-exact) > 0.501 || got.A != 255 {
					rt.Fatalf("%v at %d,%d is %v, want %.2f", c, x, y, got, want)
				}
			}
		}
	})
}

// WebP has no grayscale profiles, so an image with one would change its shades.
func TestAnImageKeepsItsProfileOrItsFormat(t *testing.T) {
	for space, img := range map[string]image.Image{
		"GRAY": image.NewGray(image.Rect(0, 0, 64, 64)),
		"RGB":  photograph(64, 64),
	} {
		profile := make([]byte, 200)
		copy(profile[16:], space+" ") // four bytes
		made := do(t, original.WithProfile(asJPEG(img, 100), profile), request.Transform{Width: 30}, true)
		if (original.Type(made) == "image/webp") != (space == "RGB") || !bytes.Equal(original.Profile(made), profile) {
			t.Errorf("%s: %s with %d bytes", space, original.Type(made), len(original.Profile(made)))
		}
	}
}

func TestTheTimeAndMemoryOfAnEncodingAreBounded(t *testing.T) {
	for size, encoded := range map[image.Point]bool{
		{X: 4000, Y: maxWebPPixels / 4000}: true, {X: 4000, Y: maxWebPPixels/4000 + 1}: false,
		{X: 16383, Y: 1}: true, {X: 1, Y: 16384}: false,
	} {
		p := New(infoOf(size, "png", 1), request.Transform{}, true)
		if p.IsWebP() != encoded || encoded && p.Weight < alphaBytes*int64(size.X*size.Y) {
			t.Errorf("%v: %t with %d bytes", size, p.IsWebP(), p.Weight)
		}
	}
	const memory = 512 << 20 / 5 // of the default limit
	for format, height := range map[string]int{"jpeg": 4000, "png": 1000} {
		if p := New(infoOf(image.Pt(1000, height), format, 1), request.Transform{}, true); p.Weight > memory {
			t.Errorf("%s of %d kilopixels: %d bytes", format, height, p.Weight)
		}
	}
}

func TestAHigherQualityIsALargerFile(t *testing.T) {
	body := asPNG(photograph(200, 150), png.NoCompression)
	for _, asWebP := range []bool{true, false} {
		before := 0
		for _, quality := range []int{1, 25, 50, 0, 90} { // zero is 75
			made := do(t, body, request.Transform{Width: 100, Quality: quality}, asWebP)
			if len(made) <= before {
				t.Errorf("WebP %t, quality %d: %d bytes, %d with less", asWebP, quality, len(made), before)
			}
			before = len(made)
		}
	}
}

// A drawing with few colors remains a PNG file if a JPEG file would be larger than the original.
func TestADrawingDoesNotBecomeLarger(t *testing.T) {
	img := image.NewPaletted(image.Rect(0, 0, 300, 300), color.Palette{color.White, color.Black})
	for i := range img.Pix {
		img.Pix[i] = byte((i%300/50 + i/300/50) % 2)
	}
	body := asPNG(img, png.BestCompression)
	for _, width := range []int{0, 150, 299} {
		if made := do(t, body, request.Transform{Width: width, Auto: "compress"}, false); width == 0 && !bytes.Equal(made, body) ||
			width != 0 && original.Type(made) != "image/png" {
			t.Errorf("w=%d: %s of %d bytes, the original has %d", width, original.Type(made), len(made), len(body))
		}
	}
}

// Rendering any file fails, or returns an image of the requested size.
func FuzzDo(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff"), 75, 10, true)
	f.Add([]byte("\x89PNG\r\n\x1a\n"), 1, 3, false)
	for _, pixels := range []image.Image{
		image.NewNRGBA(image.Rect(0, 0, 3, 40)), image.NewGray(image.Rect(0, 0, 17, 17)),
		image.NewNRGBA64(image.Rect(0, 0, 9, 1)),
	} {
		f.Add(asPNG(pixels, png.BestSpeed), 100, 7, true)
		f.Add(asJPEG(pixels, 75), 50, 5, false)
	}
	f.Fuzz(func(t *testing.T, body []byte, quality, width int, asWebP bool) {
		info, err := original.Inspect(body)
		if err != nil || info.Format == "" || info.Size.Pixels() > 1<<16 {
			return
		}
		transform := request.Transform{Width: 1 + int(uint(width)%200), Quality: 1 + int(uint(quality)%100)}
		want := transform.Scaled(info.Size)
		if want.Pixels() > 1<<16 {
			return
		}
		made, err := render(t, body, New(info, transform, asWebP))
		if err != nil {
			return
		}
		got, err := original.Inspect(made)
		if err != nil || got.Size != want {
			t.Fatalf("%d bytes of %v, want %v: %v", len(made), got.Size, want, err)
		}
	})
}
