package main

import (
	"image"
	"image/color"
	"math"
)

// A scene is a landscape for screenshots: the sky from top to horizon, the sun, and the hills from farthest to nearest,
// as 0xRRGGBB.
type scene struct {
	sky   [2]uint32
	sun   uint32
	at    [2]float64 // of the sun, as fractions of the width and the height
	hills []uint32
}

var scenes = map[string]scene{
	"alps": {
		[2]uint32{0x7fb2e5, 0xf3e3d3},
		0xfff6e0,
		[2]float64{0.72, 0.22},
		[]uint32{0xb9c7dd, 0x7f93b5, 0x4d6480, 0x22384b},
	},
	"coast": {
		[2]uint32{0x2a7f9e, 0xf7d9a8},
		0xfff2c4,
		[2]float64{0.30, 0.38},
		[]uint32{0x8fc0bd, 0x4d9a9b, 0x22707a, 0x12434f},
	},
	"dunes": {
		[2]uint32{0xf2a65a, 0xfde2b3},
		0xfff3d6,
		[2]float64{0.62, 0.30},
		[]uint32{0xe8b06f, 0xcf8546, 0xa45a2c, 0x6d3620},
	},
	"forest": {
		[2]uint32{0x9fd3c7, 0xf1f5d8},
		0xfdf3b4,
		[2]float64{0.24, 0.24},
		[]uint32{0xa5c9a1, 0x6fa477, 0x3f7a54, 0x1f4a36},
	},
	"lavender": {
		[2]uint32{0x8a76c9, 0xf9d3d8},
		0xffeecb,
		[2]float64{0.52, 0.40},
		[]uint32{0xb7a1d9, 0x8a6fbf, 0x5f4796, 0x372762},
	},
	"night": {
		[2]uint32{0x0b1430, 0x3a4a80},
		0xf2f0da,
		[2]float64{0.78, 0.20},
		[]uint32{0x34426f, 0x25325a, 0x182242, 0x0c1329},
	},
	"savanna": {
		[2]uint32{0xc8402f, 0xf8b25c},
		0xffe27a,
		[2]float64{0.46, 0.52},
		[]uint32{0xc96a35, 0x93452a, 0x5d2a22, 0x2d1517},
	},
	"sunset": {
		[2]uint32{0xf56a8a, 0xfbb17c},
		0xfcc98a,
		[2]float64{0.25, 0.36},
		[]uint32{0xe0658c, 0x97507f, 0x5c386e, 0x2e1a4d},
	},
}

func (s scene) draw() image.Image {
	img := image.NewRGBA(image.Rect(0, 0, imageWidth, imageHeight))
	for x := range imageWidth {
		ridges := make([]float64, len(s.hills))
		for i := range ridges {
			ridges[i] = ridge(i, float64(x)/imageWidth)
		}
		for y := range imageHeight {
			img.SetRGBA(x, y, s.pixel(float64(x), float64(y), ridges))
		}
	}
	return img
}

// ridge returns the distance from the top to the i-th line of hills, as a fraction of the height.
func ridge(i int, x float64) float64 {
	n := float64(i)
	wave := 0.6*math.Sin(2*math.Pi*(x*(1.1+0.35*n)+0.23*n)) + 0.4*math.Sin(2*math.Pi*(x*(2.3-0.2*n)+0.61*n))
	return 0.56 + 0.115*n + (0.085-0.012*n)*wave
}

// pixel returns the color of a pixel. Edges are a pixel wide.
func (s scene) pixel(x, y float64, ridges []float64) color.RGBA {
	c := mix(s.sky[0], s.sky[1], math.Pow(y/imageHeight/0.7, 1.2))
	distance := math.Hypot(x-s.at[0]*imageWidth, y-s.at[1]*imageHeight)
	c = over(c, s.sun, 0.35*math.Exp(-distance/180)) // its glow
	c = over(c, s.sun, 80-distance)
	for i, hill := range s.hills {
		c = over(c, hill, y-ridges[i]*imageHeight)
	}
	return c
}

func rgba(c uint32) color.RGBA {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff}
}

func mix(from, to uint32, part float64) color.RGBA { return over(rgba(from), to, part) }

// over returns a color under a fraction, from 0 to 1, of another.
func over(under color.RGBA, c uint32, part float64) color.RGBA {
	part = min(max(part, 0), 1)
	blend := func(a, b uint8) uint8 { return uint8(float64(a)*(1-part) + float64(b)*part + 0.5) }
	top := rgba(c)
	return color.RGBA{R: blend(under.R, top.R), G: blend(under.G, top.G), B: blend(under.B, top.B), A: 0xff}
}
