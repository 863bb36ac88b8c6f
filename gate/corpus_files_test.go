package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// corpus returns one file of each kind found on phones, cameras and web sites, by name. All show the same scene.
// Files that Go cannot write are in testdata/corpus. They are created with programs of the distribution: go test .
// -run Corpus -make-corpus.
var corpus = sync.OnceValue(func() map[string][]byte {
	files := map[string][]byte{}
	stored, err := filepath.Glob("testdata/corpus/*")
	if err != nil || len(stored) == 0 {
		panic("testdata/corpus is empty")
	}
	for _, file := range stored {
		body, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		files[filepath.Base(file)] = body
	}
	large, small := scene(photoSize), scene(webSize)
	webp, photo := files["lossy.webp"], asJPEG(large)
	for orientation := 1; orientation <= 8; orientation++ {
		name := fmt.Sprintf("orientation%d", orientation)
		exif := exifOf(orientation, nil)
		files[name+".jpg"] = withSegments(asJPEG(storedAs(large, orientation)), append([]byte("Exif\x00\x00"), exif...))
		files[name+".png"] = withChunk(asPNG(storedAs(small, orientation)), "eXIf", exif)
		pixels := fmt.Sprintf("stored%d.webp", orientation)
		files[name+".webp"] = withRIFF(files[pixels], nil, exif)
		delete(files, pixels)
	}
	turned := withSegments(asJPEG(storedAs(large, 6)), append([]byte("Exif\x00\x00"), exifOf(6, nil)...))
	thumbnail := withSegments(asJPEG(storedAs(small, 8)), append([]byte("Exif\x00\x00"), exifOf(8, nil)...))
	files["small-orientation6.jpg"] = withSegments(asJPEG(storedAs(small, 6)),
		append([]byte("Exif\x00\x00"), exifOf(6, nil)...))
	files["thumbnail.jpg"] = withSegments(asJPEG(storedAs(large, 6)),
		append([]byte("Exif\x00\x00"), exifOf(6, thumbnail)...))
	files["big-endian.jpg"] = withSegments(asJPEG(storedAs(large, 6)), append([]byte("Exif\x00\x00"), exifBigEndian(6)...))
	// The second orientation follows the first one.
	files["exif-twice.jpg"] = withSegments(turned, append([]byte("Exif\x00\x00"), exifOf(1, nil)...))
	files["mpo.jpg"] = append(bytes.Clone(photo), thumbnail...)
	files["motion.jpg"] = append(bytes.Clone(photo), noise(300_000)...)
	files["huge-metadata.jpg"] = hugeMetadata(photo)
	files["twelve-bit.jpg"] = patch(asJPEG(small), []byte{0xff, 0xc0, 0, 17, 8}, []byte{0xff, 0xc0, 0, 17, 12})
	files["two-starts.jpg"] = append([]byte{0xff, 0xd8}, asJPEG(small)...)
	files["truncated.jpg"] = photo[:len(photo)/2]
	files["trailing.png"] = append(asPNG(small), noise(1000)...)
	files["p3.jpg"] = withSegments(photo, append([]byte("ICC_PROFILE\x00\x01\x01"), displayP3()...))
	files["p3.png"] = withChunk(asPNG(small), "iCCP", append([]byte("P3\x00\x00"), deflate(displayP3())...))
	files["p3.webp"] = withRIFF(webp, displayP3(), nil)
	files["gray.png"] = asPNG(convertTo(small, image.NewGray(small.Rect)))
	files["sixteen-bit.png"] = asPNG(convertTo(small, image.NewNRGBA64(small.Rect)))
	files["gray-sixteen-bit.png"] = asPNG(convertTo(small, image.NewGray16(small.Rect)))
	files["palette.png"] = asPNG(convertTo(small, image.NewPaletted(small.Rect, palette.Plan9)))
	files["transparent.png"] = asPNG(faded(small))
	paletted := convertTo(small, image.NewPaletted(small.Rect, palette.Plan9)).(*image.Paletted)
	files["single.gif"] = asGIF(paletted)
	files["animated.gif"] = asGIF(paletted, paletted, paletted)
	files["icon.svg"] = []byte("\ufeff<?xml version=\"1.0\"?>\n<!-- drawn -->\n<!DOCTYPE svg>\n" +
		`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>`)
	files["utf16.svg"] = []byte("\xff\xfe<\x00s\x00v\x00g\x00/\x00>\x00")
	files["photo.jxl"] = append([]byte("\xff\x0a"), noise(100)...)
	files["gamma.png"] = withChunk(asPNG(small), "gAMA", []byte{0, 1, 0x86, 0xa0})
	files["film.png"] = withChunk(asPNG(small), "cICP", []byte{9, 16, 0, 1})
	files["animated.png"] = asAPNG(asPNG(small))
	files["empty.jpg"], files["page.jpg"] = nil, []byte("<!DOCTYPE html><html><body><svg/></body></html>")
	return files
})

var (
	photoSize = image.Pt(1280, 832) // large enough to be decoded at a smaller scale
	webSize   = image.Pt(300, 195)
)

// scene is asymmetric, and smooth enough to compare results with the scene at their size.
func scene(size image.Point) *image.NRGBA {
	img := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			u, v := (float64(x)+.5)/float64(size.X), (float64(y)+.5)/float64(size.Y)
			img.SetNRGBA(x, y, color.NRGBA{uint8(40 + 180*u*(1-v/2)), uint8(30 + 190*v*v), uint8(200 - 120*u*v), 255})
		}
	}
	return img
}

// storedAs returns the stored pixels of an upright image with an orientation. EXIF 2.3 defines the sides of row zero
// and column zero for each orientation.
func storedAs(img *image.NRGBA, orientation int) *image.NRGBA {
	size := img.Rect.Size()
	sides := [...][2]string{
		{"top", "left"},
		{"top", "right"},
		{"bottom", "right"},
		{"bottom", "left"},
		{"left", "top"},
		{"right", "top"},
		{"right", "bottom"},
		{"left", "bottom"},
	}[orientation-1]
	at := map[string]func(i int) int{
		"top": func(i int) int { return i }, "left": func(i int) int { return i },
		"bottom": func(i int) int { return img.Rect.Dy() - 1 - i }, "right": func(i int) int { return img.Rect.Dx() - 1 - i },
	}
	rows, columns := at[sides[0]], at[sides[1]]
	turned := orientation > 4
	if turned {
		size.X, size.Y = size.Y, size.X
	}
	out := image.NewNRGBA(image.Rectangle{Max: size})
	for row := range size.Y {
		for column := range size.X {
			if turned {
				out.SetNRGBA(column, row, img.NRGBAAt(rows(row), columns(column)))
			} else {
				out.SetNRGBA(column, row, img.NRGBAAt(columns(column), rows(row)))
			}
		}
	}
	return out
}

func convertTo(img image.Image, to draw.Image) image.Image {
	draw.Draw(to, to.Bounds(), img, image.Point{}, draw.Src)
	return to
}

// faded is transparent on the left.
func faded(img *image.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(img.Rect)
	copy(out.Pix, img.Pix)
	for i := 3; i < len(out.Pix); i += 4 {
		out.Pix[i] = uint8(255 * (i % out.Stride) / out.Stride)
	}
	return out
}

func written(write func(*bytes.Buffer) error) []byte {
	var out bytes.Buffer
	if err := write(&out); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func asJPEG(img image.Image) []byte {
	return written(func(b *bytes.Buffer) error { return jpeg.Encode(b, img, &jpeg.Options{Quality: 90}) })
}

func asPNG(img image.Image) []byte {
	return written(func(b *bytes.Buffer) error { return png.Encode(b, img) })
}

func asGIF(frames ...*image.Paletted) []byte {
	return written(func(b *bytes.Buffer) error {
		return gif.EncodeAll(b, &gif.GIF{Image: frames, Delay: make([]int, len(frames))})
	})
}

// exifOf returns EXIF data with an orientation, and with a thumbnail as in files of cameras.
func exifOf(orientation int, thumbnail []byte) []byte {
	out := []byte("II\x2a\x00\x08\x00\x00\x00\x02\x00" + "\x0f\x01\x02\x00\x04\x00\x00\x00abc\x00" +
		"\x12\x01\x03\x00\x01\x00\x00\x00")
	out = append(out, byte(orientation), 0, 0, 0)
	return append(append(out, 0, 0, 0, 0), thumbnail...)
}

func exifBigEndian(orientation int) []byte {
	return append([]byte("MM\x00\x2a\x00\x00\x00\x08\x00\x01"+"\x01\x12\x00\x03\x00\x00\x00\x01"), 0,
		byte(orientation), 0, 0, 0, 0, 0, 0)
}

// withSegments adds application segments at the start of a JPEG file.
func withSegments(file []byte, payloads ...[]byte) []byte {
	out := bytes.Clone(file[:2])
	rest := file[2:]
	for len(rest) > 4 && rest[1] == 0xe1 { // after the existing ones
		n := 2 + int(binary.BigEndian.Uint16(rest[2:]))
		out, rest = append(out, rest[:n]...), rest[n:]
	}
	for _, payload := range payloads {
		marker := byte(0xe1)
		if bytes.HasPrefix(payload, []byte("ICC_PROFILE")) {
			marker = 0xe2
		}
		out = binary.BigEndian.AppendUint16(append(out, 0xff, marker), uint16(len(payload)+2))
		out = append(out, payload...)
	}
	return append(out, rest...)
}

func hugeMetadata(file []byte) []byte {
	var payloads [][]byte
	for range 12 {
		payloads = append(payloads, append([]byte("http://ns.adobe.com/xap/1.0/\x00"), noise(60_000)...))
	}
	return withSegments(file, payloads...)
}

// withChunk adds a chunk after the header of a PNG file.
func withChunk(file []byte, kind string, data []byte) []byte {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	chunk = append(append(chunk, kind...), data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	return append(append(bytes.Clone(file[:33]), chunk...), file[33:]...)
}

// asAPNG returns an animation with two frames. The second one is transparent.
func asAPNG(file []byte) []byte {
	control := func(sequence uint32, size image.Point) []byte {
		data := binary.BigEndian.AppendUint32(nil, sequence)
		data = binary.BigEndian.AppendUint32(data, uint32(size.X))
		data = binary.BigEndian.AppendUint32(data, uint32(size.Y))
		return append(data, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 10, 0, 0)
	}
	animated := withChunk(file, "fcTL", control(0, webSize))
	animated = withChunk(animated, "acTL", []byte{0, 0, 0, 2, 0, 0, 0, 0})
	frame := withChunk(file, "fdAT", append([]byte{0, 0, 0, 2}, deflate(make([]byte, 5))...))
	frame = withChunk(frame, "fcTL", control(1, image.Pt(1, 1)))
	const header, end = 33, 12
	added := frame[header : len(frame)-(len(file)-header)]
	return slices.Concat(animated[:len(animated)-end], added, animated[len(animated)-end:])
}

// withRIFF adds metadata to a simple WebP file.
func withRIFF(file, profile, exif []byte) []byte {
	chunk := func(kind string, data []byte) []byte {
		out := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data)))
		out = append(out, data...)
		if len(data)%2 == 1 {
			out = append(out, 0)
		}
		return out
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		panic(err)
	}
	flags := byte(0)
	var before, after []byte
	if profile != nil {
		flags, before = flags|0x20, chunk("ICCP", profile)
	}
	if exif != nil {
		flags, after = flags|0x08, chunk("EXIF", exif)
	}
	width, height := config.Width-1, config.Height-1
	header := []byte{flags, 0, 0, 0, byte(width), byte(width >> 8), 0, byte(height), byte(height >> 8), 0}
	body := append(append(append(append([]byte("WEBP"), chunk("VP8X", header)...), before...), file[12:]...), after...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func patch(file, from, to []byte) []byte {
	if !bytes.Contains(file, from) {
		panic("nothing to patch")
	}
	return bytes.Replace(file, from, to, 1)
}

func noise(n int) []byte {
	out := make([]byte, n)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(out)
	return out
}

// displayP3 is a profile (version 2) with the primaries of Display P3 and a gamma of 2.2.
func displayP3() []byte {
	xyz := func(x, y, z float64) []byte {
		out := []byte("XYZ \x00\x00\x00\x00")
		for _, v := range []float64{x, y, z} {
			out = binary.BigEndian.AppendUint32(out, uint32(int32(v*65536)))
		}
		return out
	}
	gamma := []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33\x00\x00")
	description := append([]byte("desc\x00\x00\x00\x00\x00\x00\x00\x03P3\x00"), make([]byte, 79)...)
	tags := []struct {
		name string
		data []byte
	}{
		{"desc", description},
		{"cprt", []byte("text\x00\x00\x00\x00none\x00\x00\x00\x00")},
		{"wtpt", xyz(.9642, 1, .8249)},
		{"rXYZ", xyz(.5151, .2412, -.0011)},
		{"gXYZ", xyz(.2920, .6922, .0419)},
		{"bXYZ", xyz(.1571, .0666, .7841)},
		{"rTRC", gamma},
		{"gTRC", gamma},
		{"bTRC", gamma},
	}
	table := binary.BigEndian.AppendUint32(nil, uint32(len(tags)))
	var data []byte
	for _, tag := range tags {
		for len(data)%4 != 0 {
			data = append(data, 0)
		}
		table = append(table, tag.name...)
		table = binary.BigEndian.AppendUint32(table, uint32(128+4+12*len(tags)+len(data)))
		table = binary.BigEndian.AppendUint32(table, uint32(len(tag.data)))
		data = append(data, tag.data...)
	}
	header := make([]byte, 128)
	binary.BigEndian.PutUint32(header, uint32(128+len(table)+len(data)))
	copy(header[8:], "\x02\x40\x00\x00mntrRGB XYZ \x07\xe6\x00\x01\x00\x01\x00\x00\x00\x00\x00\x00acsp")
	copy(header[68:], xyz(.9642, 1, .8249)[8:])
	return append(append(header, table...), data...)
}
