package main

import (
	"image"
	"math"
)

// blur is a Gaussian blur. As in Darkroom, its cost grows with the radius without limit.
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
	return transpose(convolve(transpose(convolve(asRGBA(img), kernel)), kernel))
}

// convolve filters each row.
func convolve(in *image.RGBA, kernel []float64) *image.RGBA {
	out := image.NewRGBA(in.Bounds())
	for y := range in.Rect.Dy() {
		row := in.Pix[y*in.Stride:]
		for x := range in.Rect.Dx() {
			var sum [4]float64
			for i, weight := range kernel {
				pixel := row[4*min(max(x+i-len(kernel)/2, 0), in.Rect.Dx()-1):]
				for c := range sum {
					sum[c] += weight * float64(pixel[c])
				}
			}
			for c := range sum {
				out.Pix[y*out.Stride+4*x+c] = uint8(math.Round(sum[c]))
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
