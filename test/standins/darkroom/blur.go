package main

import (
	"image"
	"math"
)

// blur is a Gaussian blur. As in Darkroom, its cost grows with the radius without a bound.
func blur(img image.Image, radius float64) image.Image {
	kernel := make([]float64, 2*int(math.Ceil(radius))+1)
	var sum float64
	for i := range kernel {
		x := float64(i) - math.Ceil(radius)
		kernel[i] = math.Exp(-x * x / (2 * radius * radius / 4))
		sum += kernel[i]
	}
	for i := range kernel {
		kernel[i] /= sum
	}
	in := asRGBA(img)
	size := in.Bounds().Size()
	between := convolve(in, kernel, size, func(x, y int) int { return y*in.Stride + x*4 })
	turned := convolve(between, kernel, image.Pt(size.Y, size.X), func(y, x int) int { return y*between.Stride + x*4 })
	return transpose(turned)
}

// convolve filters along the first coordinate of at, which returns the offset of a pixel.
// The result has the given size.
func convolve(in *image.RGBA, kernel []float64, size image.Point, at func(a, b int) int) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: size})
	half := len(kernel) / 2
	for b := range size.Y {
		for a := range size.X {
			var sum [4]float64
			for i, weight := range kernel {
				pixel := in.Pix[at(min(max(a+i-half, 0), size.X-1), b):]
				for c := range sum {
					sum[c] += weight * float64(pixel[c])
				}
			}
			for c := range sum {
				out.Pix[b*out.Stride+a*4+c] = uint8(math.Round(sum[c]))
			}
		}
	}
	return out
}

func transpose(in *image.RGBA) *image.RGBA {
	size := in.Bounds().Size()
	out := image.NewRGBA(image.Rect(0, 0, size.Y, size.X))
	for y := range size.Y {
		for x := range size.X {
			copy(out.Pix[x*out.Stride+y*4:][:4], in.Pix[y*in.Stride+x*4:][:4])
		}
	}
	return out
}
