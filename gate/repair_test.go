package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// damaged contains files by name that browsers show and strict decoders reject.
func damaged() map[string][]byte {
	small := scene(webSize)
	photo, plain := asJPEG(small), asPNG(convertTo(small, image.NewNRGBA(small.Rect)))
	wrong := withChunk(plain, "tEXt", []byte("Title\x00x"))
	wrong[33+8+7]++ // the last byte of the data
	profile := withChunk(plain, "iCCP", []byte("P3\x00\x00damaged"))
	profile[33+8+9]++
	transparent := []byte{0, 1, 0, 1, 0, 1}
	opaque := asPNG(convertTo(small, image.NewRGBA(small.Rect)))
	late := slices.Concat(opaque[:len(opaque)-12], withChunk(opaque, "tRNS", transparent)[33:33+18], opaque[len(opaque)-12:])
	segments := bytes.Index(photo, []byte("\xff\xda"))
	progressive, restarts := corpus()["progressive.jpg"], corpus()["restart.jpg"]
	return map[string][]byte{
		"crc-of-text.png": wrong, "crc-of-profile.png": profile,
		"without-end.png":         plain[:len(plain)-12],
		"cut-end.png":             plain[:len(plain)-5],
		"double-transparency.png": withChunk(withChunk(opaque, "tRNS", transparent), "tRNS", transparent),
		"late-transparency.png":   late,
		"too-much.png":            withMore(opaque, 1000),
		"too-much-interlaced.png": withMore(corpus()["interlaced.png"], 1000),
		"without-end.jpg":         photo[:len(photo)-2],
		"without-last.jpg":        photo[:len(photo)-9],
		"cut.jpg":                 photo[:segments+(len(photo)-segments)*3/4],
		"cut-progressive.jpg":     progressive[:len(progressive)*3/4],
		"damaged-restarts.jpg": slices.Concat(restarts[:len(restarts)/2], make([]byte, 100),
			restarts[len(restarts)/2+100:]),
		"damaged-pixels.jpg": slices.Concat(photo[:len(photo)/2], []byte{0xff, 0x05, 0xff, 0x07}, photo[len(photo)/2+4:]),
	}
}

// withMore adds data beyond the last pixel of a PNG file.
func withMore(file []byte, more int) []byte {
	var out, packed []byte
	for rest := file[8:]; len(rest) > 0; {
		chunk := rest[:12+binary.BigEndian.Uint32(rest)]
		if rest = rest[len(chunk):]; string(chunk[4:8]) == "IDAT" {
			packed = append(packed, chunk[8:len(chunk)-4]...)
		} else {
			out = append(out, chunk...)
		}
	}
	pixels, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	raw, err := io.ReadAll(pixels)
	if err != nil {
		panic(err)
	}
	end := out[len(out)-12:]
	whole := withChunk(slices.Concat(file[:8], out[:25]), "IDAT", deflate(append(raw, make([]byte, more)...)))
	return slices.Concat(whole[:33], out[25:len(out)-12], whole[33:], end)
}

func TestDamagedFilesThatBrowsersShowAreTransformed(t *testing.T) {
	files := damaged()
	o := newOrigin(t)
	o.respond(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(files[strings.TrimPrefix(r.URL.Path, "/")])
	})
	g := start(t, o.url, nil)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		got := g.expect("/"+name+"?w=90", http.StatusOK)
		img, _, err := image.Decode(bytes.NewReader(got.body))
		if err != nil || img.Bounds().Dx() != 90 || img.Bounds().Dy() != 59 {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got.body), len(files[name]), err)
			continue
		}
		want := color.NRGBAModel.Convert(scene(img.Bounds().Size()).At(20, 10)).(color.NRGBA)
		found := color.NRGBAModel.Convert(img.At(20, 10)).(color.NRGBA)
		if d := max(int(want.R)-int(found.R), int(found.R)-int(want.R)); d > 8 {
			t.Errorf("%s: %v, want %v", name, found, want)
		}
	}
}

// progressive is a rotated photo of 12 megapixels in a single shade, without chroma subsampling.
func progressive() []byte {
	const width, height = 4000, 3000
	file := []byte("\xff\xd8\xff\xdb\x00\x43\x00")
	file = append(file, bytes.Repeat([]byte{1}, 64)...)
	file = append(file, "\xff\xc2\x00\x11\x08"...)
	file = binary.BigEndian.AppendUint16(file, height)
	file = binary.BigEndian.AppendUint16(file, width)
	file = append(file, "\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00"...)
	file = append(file, "\xff\xc4\x00\x14\x00\x01"...) // code 0 means the same as the previous block
	file = append(file, make([]byte, 16)...)
	file = append(file, "\xff\xda\x00\x0c\x03\x01\x00\x02\x00\x03\x00\x00\x00\x00"...)
	file = append(file, make([]byte, 3*width*height/64/8)...)
	file = append(file, "\xff\xd9"...)
	return withSegments(file, append([]byte("Exif\x00\x00"), exifOf(6, nil)...))
}

func TestAProgressivePhotoOnItsSideFitsIntoTheDefaultMemory(t *testing.T) {
	o, photo := newOrigin(t), progressive()
	o.respond(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(photo) })
	g := start(t, o.url, nil)
	for query, size := range map[string]image.Point{
		"w=300": {300, 400}, "w=1200": {1200, 1600}, "h=1999&auto=compress": {1499, 1999}, "w=300&blur=1": {300, 400},
	} {
		got := g.expect("/a.jpg?"+query, http.StatusOK)
		if img, _, err := image.Decode(bytes.NewReader(got.body)); err != nil || img.Bounds().Size() != size {
			t.Errorf("%s: %v, %v", query, got.header, err)
		}
	}
}
