package jpeg

import (
	"bytes"
	"image"
	"image/draw"
	standard "image/jpeg"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

// drawPixels draws a gradient with noise, as an image type that results can have.
func drawPixels(t *rapid.T) image.Image {
	bounds := image.Rect(0, 0, rapid.IntRange(1, 200).Draw(t, "width"), rapid.IntRange(1, 200).Draw(t, "height"))
	noise := rapid.SampledFrom([]int{0, 1, 9, 255}).Draw(t, "noise")
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "content"), 0))
	fill := func(pix []byte) {
		slope := random.IntN(300)
		for i := range pix {
			pix[i] = byte(i*slope/len(pix) + random.IntN(noise+1))
		}
	}
	gray, rgba, ycbcr := image.NewGray(bounds), image.NewRGBA(bounds), image.NewYCbCr(bounds, image.YCbCrSubsampleRatio420)
	fill(gray.Pix)
	draw.Draw(rgba, bounds, gray, image.Point{}, draw.Src)
	fill(rgba.Pix[:len(rgba.Pix)/2])
	fill(ycbcr.Y)
	fill(ycbcr.Cb)
	fill(ycbcr.Cr)
	return rapid.SampledFrom([]image.Image{gray, rgba, ycbcr}).Draw(t, "type")
}

// standardFile returns the file that image/jpeg writes for an image.
func standardFile(img image.Image, quality int) []byte {
	var out bytes.Buffer
	if err := standard.Encode(&out, img, &standard.Options{Quality: quality}); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func TestAFileHasThePixelsOfTheStandardEncoderInFewerBytes(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		img, quality := drawPixels(rt), rapid.IntRange(1, 100).Draw(rt, "quality")
		before := standardFile(img, quality)
		file, err := Encode(img, quality)
		if err != nil || len(file) >= len(before) {
			rt.Fatalf("%d bytes, image/jpeg writes %d: %v", len(file), len(before), err)
		}
		want, _ := standard.Decode(bytes.NewReader(before))
		got, err := standard.Decode(bytes.NewReader(file))
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("other pixels: %v", err)
		}
	})
}

func TestASmoothImageIsAQuarterSmaller(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 800, 600))
	for i := range img.Pix {
		x, y := i%800, i/800
		img.Pix[i] = byte(30 + x/5 + x*y/8000)
	}
	before := len(standardFile(img, 75))
	if file, err := Encode(img, 75); err != nil || len(file) > before*3/4 {
		t.Errorf("%d bytes, image/jpeg writes %d: %v", len(file), before, err)
	}
}

// Counts that are Fibonacci numbers produce the longest Huffman codes.
func TestNoCodeIsTooLong(t *testing.T) {
	var counts [256]int
	for a, b, i := 1, 1, 0; i < 40; a, b, i = b, a+b, i+1 {
		counts[i] = a
	}
	lengths, symbols := codeLengths(counts)
	used := 0 // of all codes of 16 bits
	for i, n := range lengths {
		used += int(n) << (15 - i)
	}
	if len(symbols) != 40 || used >= 1<<16 {
		t.Errorf("lengths %v of %v use %d codes", lengths, symbols, used)
	}
}

func BenchmarkEncode(b *testing.B) {
	scaled, err := Decode(photograph(), 4)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("image/jpeg", func(b *testing.B) {
		for b.Loop() {
			standardFile(scaled, 75)
		}
	})
	b.Run("optimal tables", func(b *testing.B) {
		for b.Loop() {
			_, _ = Encode(scaled, 75)
		}
	})
}
