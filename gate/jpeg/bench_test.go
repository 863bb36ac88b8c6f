package jpeg

import (
	"bytes"
	"fmt"
	"image"
	standard "image/jpeg"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// photograph is a file of 12 megapixels: smooth shapes with edges, texture and noise.
var photograph = sync.OnceValue(func() []byte {
	img := image.NewYCbCr(image.Rect(0, 0, 4000, 3000), image.YCbCrSubsampleRatio420)
	random := rand.New(rand.NewPCG(1, 2))
	var shapes [60][4]float64
	for i := range shapes {
		shapes[i] = [4]float64{random.Float64() * 4000, random.Float64() * 3000, 50 + random.Float64()*500, random.Float64()*120 - 60}
	}
	noise := make([]float64, 1<<16)
	for i := range noise {
		noise[i] = random.NormFloat64() * 3
	}
	for y := range 3000 {
		var near [][4]float64
		for _, s := range shapes {
			if math.Abs(s[1]-float64(y)) < s[2] {
				near = append(near, s)
			}
		}
		at := random.IntN(len(noise))
		for x := range 4000 {
			value := 110 + 40*math.Sin(float64(x)/900)*math.Cos(float64(y)/700) + noise[(at+x)%len(noise)]
			for _, s := range near {
				dx, dy := float64(x)-s[0], float64(y)-s[1]
				if dx*dx+dy*dy < s[2]*s[2] {
					value += s[3] + 6*math.Sin(dx/3+dy/5)
				}
			}
			img.Y[img.YOffset(x, y)] = uint8(min(255, max(0, value)))
			if x%2 == 0 && y%2 == 0 {
				c := img.COffset(x, y)
				img.Cb[c] = uint8(min(255, max(0, 128+value/8+noise[(at+x+99)%len(noise)]/2)))
				img.Cr[c] = uint8(min(255, max(0, 148-value/6)))
			}
		}
	}
	return standardFile(img, 90)
})

func BenchmarkDecode(b *testing.B) {
	file := photograph()
	b.Run("image/jpeg", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := standard.Decode(bytes.NewReader(file)); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, denominator := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("1 of %d", denominator), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(file, denominator); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
