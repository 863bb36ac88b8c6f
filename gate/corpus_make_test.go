package main

import (
	"fmt"
	"image"
	"image/color/palette"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// makeCorpus writes the files that Go cannot write, with cjpeg, cwebp, gif2webp, avifenc, heif-enc and ImageMagick.
func makeCorpus(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, body []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	large, small := write("large.png", asPNG(scene(photoSize))), write("small.png", asPNG(scene(webSize)))
	faded := write("faded.png", asPNG(faded(scene(webSize))))
	animated := write("animated.gif", corpusGIF())
	for orientation := 1; orientation <= 8; orientation++ {
		write(fmt.Sprintf("stored%d.png", orientation), asPNG(storedAs(scene(webSize), orientation)))
	}
	run := func(command string) {
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	out, err := filepath.Abs("testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	run("convert " + large + " " + folder + "/large.ppm; convert " + small + " " + folder + "/small.ppm")
	for name, arguments := range map[string]string{
		"progressive.jpg": "-progressive", "gray.jpg": "-grayscale", "rgb.jpg": "-rgb", "restart.jpg": "-restart 1",
		"optimized.jpg": "-optimize",
		"444.jpg":       "-sample 1x1", "440.jpg": "-sample 1x2", "411.jpg": "-sample 4x1", "410.jpg": "-sample 4x2",
	} {
		run("cjpeg -quality 85 " + arguments + " " + folder + "/large.ppm > " + out + "/" + name)
	}
	for name, arguments := range map[string]string{"arithmetic.jpg": "-arithmetic", "odd-sampling.jpg": "-sample 3x1"} {
		run("cjpeg -quality 85 " + arguments + " " + folder + "/small.ppm > " + out + "/" + name)
	}
	for orientation := 1; orientation <= 8; orientation++ {
		run(fmt.Sprintf("cwebp -quiet -q 90 %s/stored%d.png -o %s/stored%d.webp", folder, orientation, out, orientation))
	}
	for _, command := range []string{
		"convert " + large + " -colorspace CMYK -quality 85 OUT/cmyk.jpg",
		"convert " + small + " -interlace PNG OUT/interlaced.png",
		"convert " + small + " -resize 32x32 OUT/icon.ico",
		"convert " + small + " -resize 60x40 OUT/drawing.bmp",
		"convert " + small + " -resize 60x40 BMP2:OUT/os2.bmp",
		"cwebp -quiet -q 90 " + small + " -o OUT/lossy.webp",
		"cwebp -quiet -lossless " + small + " -o OUT/lossless.webp",
		"cwebp -quiet -q 90 " + faded + " -o OUT/alpha.webp",
		"gif2webp -quiet " + animated + " -o OUT/animated.webp",
		"avifenc " + small + " OUT/photo.avif",
		"heif-enc " + small + " -o OUT/photo.heic",
	} {
		run(strings.ReplaceAll(command, "OUT", out))
	}
}

func corpusGIF() []byte {
	img := convertTo(scene(webSize), image.NewPaletted(image.Rectangle{Max: webSize}, palette.Plan9)).(*image.Paletted)
	other := image.NewPaletted(img.Rect, palette.Plan9)
	return asGIF(img, other)
}
