package encode

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"testing"

	"golang.org/x/image/webp"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
)

// draw returns an image whose colors are a mixture of noise and a gradient, and whose alpha is one of three kinds.
func draw(t *rapid.T) *image.NRGBA {
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

// file returns an image as a file, and its size when it is upright. JPEG files may have an orientation.
func file(t *rapid.T, img *image.NRGBA) ([]byte, image.Point) {
	var out bytes.Buffer
	size := img.Rect.Size()
	if rapid.Bool().Draw(t, "png") {
		_ = (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&out, img)
		return out.Bytes(), size
	}
	_ = jpeg.Encode(&out, img, &jpeg.Options{Quality: 100})
	orientation := rapid.IntRange(1, 8).Draw(t, "orientation")
	exif := []byte("Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00")
	exif = append(exif, byte(orientation), 0, 0, 0, 0, 0, 0, 0)
	segment := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2)), exif...)
	if orientation > 4 {
		size = image.Pt(size.Y, size.X)
	}
	body := out.Bytes()
	return append(append(bytes.Clone(body[:2]), segment...), body[2:]...), size
}

// Whatever the image, the result is smaller, upright, and has its alpha, in the eyes of another decoder.
func TestWebPIsSmallerUprightAndAsTransparent(t *testing.T) {
	encoded := 0
	rapid.Check(t, func(rt *rapid.T) {
		img := draw(rt)
		body, size := file(rt, img)
		isPNG := original.Type(body) == "image/png"
		from, ok := New(body)
		if !ok {
			rt.Fatal("not encoded")
		}
		made, err := from.WebP(rapid.IntRange(1, 100).Draw(rt, "quality"))
		if err != nil {
			rt.Fatal(err)
		}
		if made == nil {
			return
		}
		encoded++
		got, err := webp.Decode(bytes.NewReader(made))
		if err != nil || got.Bounds().Size() != size || len(made) >= len(body) {
			rt.Fatalf("%d of %d bytes, %v, want %v: %v", len(made), len(body), got.Bounds(), size, err)
		}
		for i := range size.X * size.Y {
			_, _, _, alpha := got.At(i%size.X, i/size.X).RGBA()
			if want := img.Pix[4*i+3]; isPNG && uint8(alpha>>8) != want || !isPNG && alpha != 0xffff {
				rt.Fatalf("alpha %d at %d,%d, want %d", alpha>>8, i%size.X, i/size.X, want)
			}
		}
	})
	if encoded == 0 {
		t.Error("nothing was encoded")
	}
}

// Smooth areas show no blocks: they are like the original by 49 dB, and by 47 dB without the loop filter.
func TestSmoothAreasStaySmooth(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 160, 120))
	for i := range img.Pix {
		x, y := float64(i%160)/160, float64(i/160)/120
		img.Pix[i] = uint8(30 + 150*x*(1-y/2) + 60*y*y)
	}
	var file bytes.Buffer
	_ = png.Encode(&file, img)
	from, _ := New(file.Bytes())
	made, err := from.WebP(75)
	if err != nil || made == nil {
		t.Fatal("not encoded", err)
	}
	decoded, err := webp.Decode(bytes.NewReader(made))
	if err != nil {
		t.Fatal(err)
	}
	luma := decoded.(*image.YCbCr)
	var sum float64
	for i, want := range img.Pix {
		d := (float64(luma.Y[luma.YOffset(i%160, i/160)])-16)*255/219 - float64(want) // the range of video
		sum += d * d
	}
	if alike := 10 * math.Log10(255*255*float64(len(img.Pix))/sum); alike < 48 {
		t.Errorf("%.1f dB", alike)
	}
}

// WebP has no profile of shades of gray, so an image with one would be shown with other shades.
func TestAnImageKeepsItsProfileOrItsFormat(t *testing.T) {
	for space, img := range map[string]image.Image{
		"GRAY": image.NewGray(image.Rect(0, 0, 64, 64)),
		"RGB":  image.NewNRGBA(image.Rect(0, 0, 64, 64)),
	} {
		profile := make([]byte, 200)
		copy(profile[16:], space+" ") // four bytes
		var file bytes.Buffer
		_ = jpeg.Encode(&file, img, nil)
		from, _ := New(original.WithProfile(file.Bytes(), profile))
		made, err := from.WebP(75)
		if err != nil || (made == nil) != (space == "GRAY") || made != nil && !bytes.Equal(original.Profile(made), profile) {
			t.Errorf("%s: %d bytes, %v", space, len(made), err)
		}
	}
}

func TestTheTimeAndMemoryOfAnEncodingAreBounded(t *testing.T) {
	for size, encoded := range map[image.Point]bool{
		{X: 4000, Y: maxPixels / 4000}: true, {X: 4000, Y: maxPixels/4000 + 1}: false,
		{X: 16383, Y: 1}: true, {X: 1, Y: 16384}: false,
	} {
		var file bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestSpeed}
		_ = encoder.Encode(&file, image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.Black}))
		from, ok := New(file.Bytes())
		if ok != encoded || ok && from.Weight < alphaBytes*int64(size.X*size.Y) {
			t.Errorf("%v: %t with %d bytes", size, ok, from.Weight)
		}
	}
}

func TestAHigherQualityIsALargerFile(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 100, 100))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i / 7)
	}
	var file bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&file, img)
	before := 0
	for _, quality := range []int{1, 25, 50, 75} {
		from, _ := New(file.Bytes())
		made, err := from.WebP(quality)
		if err != nil || len(made) <= before {
			t.Errorf("quality %d: %d bytes, %d with less: %v", quality, len(made), before, err)
		}
		before = len(made)
	}
}

// Whatever a source or Darkroom returns, encoding it fails or makes something smaller of the same size.
func FuzzWebP(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff"), 75)
	f.Add([]byte("\x89PNG\r\n\x1a\n"), 1)
	for _, pixels := range []image.Image{
		image.NewNRGBA(image.Rect(0, 0, 3, 40)), image.NewGray(image.Rect(0, 0, 17, 17)),
		image.NewNRGBA64(image.Rect(0, 0, 9, 1)),
	} {
		var asPNG, asJPEG bytes.Buffer
		_, _ = png.Encode(&asPNG, pixels), jpeg.Encode(&asJPEG, pixels, nil)
		f.Add(asPNG.Bytes(), 100)
		f.Add(asJPEG.Bytes(), 50)
	}
	f.Fuzz(func(t *testing.T, body []byte, quality int) {
		from, ok := New(body)
		if !ok || from.info.Size.Pixels() > 1<<16 {
			return
		}
		made, err := from.WebP(1 + int(uint(quality)%100))
		if err != nil || made == nil {
			return
		}
		got, err := webp.Decode(bytes.NewReader(made))
		if err != nil || len(made) >= len(body) || got.Bounds().Dx() != from.info.Size.Width ||
			got.Bounds().Dy() != from.info.Size.Height {
			t.Fatalf("%d of %d bytes: %v", len(made), len(body), err)
		}
	})
}
