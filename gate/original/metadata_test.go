package original

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// drawTIFF returns EXIF data with an orientation among other entries.
func drawTIFF(t *rapid.T, orientation int) []byte {
	var order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	} = binary.LittleEndian
	header := "II"
	if rapid.Bool().Draw(t, "big endian") {
		order, header = binary.BigEndian, "MM"
	}
	gap := rapid.IntRange(0, 9).Draw(t, "gap")
	out := order.AppendUint16([]byte(header), 42)
	out = append(order.AppendUint32(out, uint32(8+gap)), make([]byte, gap)...)
	before, after := rapid.IntRange(0, 5).Draw(t, "entries before"), rapid.IntRange(0, 3).Draw(t, "entries after")
	out = order.AppendUint16(out, uint16(before+1+after))
	entry := func(tag, kind, value uint16) {
		out = order.AppendUint16(order.AppendUint16(out, tag), kind)
		out = append(order.AppendUint16(order.AppendUint32(out, 1), value), 0, 0)
	}
	for range before {
		entry(rapid.SampledFrom([]uint16{0x010f, 0x0111, 0x0113}).Draw(t, "tag"), 3, 5)
	}
	entry(0x0112, 3, uint16(orientation))
	for range after {
		entry(0x0132, 3, 7)
	}
	return out
}

// drawProfile returns a profile of some colors.
func drawProfile(t *rapid.T, colors string) []byte {
	size := rapid.OneOf(rapid.IntRange(128, 140), rapid.IntRange(128, maxProfile), rapid.Just(maxProfile)).
		Draw(t, "size of the profile")
	profile := bytes.Repeat([]byte{byte(size), 0xff, 'x'}, size/3+1)[:size]
	copy(profile[16:], colors)
	return profile
}

func segment(marker byte, data []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(2+len(data))), data...)
}

func pngChunk(kind string, data []byte) []byte { return appendChunk(nil, kind, data) }

func webpChunk(kind string, data []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data)))
	return append(append(out, data...), make([]byte, len(data)%2)...)
}

// webpStart is the header of WebP files with metadata.
var webpStart = slices.Concat([]byte("RIFF\x00\x00\x00\x00WEBP"), webpChunk("VP8X", make([]byte, 10)))

// file is the start of an image, its parts, and the rest.
type file struct {
	start  []byte
	pieces [][]byte
	end    []byte
}

func (f file) body() []byte { return slices.Concat(f.start, slices.Concat(f.pieces...), f.end) }

// drawFile returns a file with an orientation and a profile among other parts.
func drawFile(t *rapid.T, format string, orientation int, profile []byte) file {
	tiff := drawTIFF(t, orientation)
	var other, exif []byte
	var colors [][]byte
	var f file
	switch format {
	case "jpeg":
		f.start, f.end = []byte("\xff\xd8"), []byte("\xff\xd9"+"\xff\xe1\x00\x08Exif\x00\x00")
		other, exif = segment(0xfe, []byte("a comment")), segment(0xe1, slices.Concat([]byte("Exif\x00\x00"), tiff))
		half := rapid.IntRange(0, len(profile)).Draw(t, "first part of the profile")
		for i, part := range [][]byte{profile[:half], profile[half:]} {
			colors = append(colors, segment(0xe2, slices.Concat([]byte("ICC_PROFILE\x00"), []byte{byte(i + 1), 2}, part)))
		}
		colors = rapid.Permutation(colors).Draw(t, "order of the profile")
	case "png":
		f.start, f.end = []byte("\x89PNG\r\n\x1a\n"),
			slices.Concat(pngChunk("IEND", nil), pngChunk("eXIf", []byte("behind the end")))
		other, exif = pngChunk("tEXt", []byte("a comment")), pngChunk("eXIf", tiff)
		packed := bytes.NewBufferString("name\x00\x00")
		writer := zlib.NewWriter(packed)
		_, _ = writer.Write(profile)
		_ = writer.Close()
		colors = [][]byte{pngChunk("iCCP", packed.Bytes())}
	case "webp":
		f.start = webpStart
		other, exif = webpChunk("XMP ", []byte("a comment")),
			webpChunk("EXIF", slices.Concat([]byte(rapid.SampledFrom([]string{"", "Exif\x00\x00"}).Draw(t, "prefix")), tiff))
		colors = [][]byte{webpChunk("ICCP", profile)}
	}
	f.pieces = slices.Concat(colors, [][]byte{exif})
	if rapid.Bool().Draw(t, "orientation first") {
		f.pieces = slices.Concat([][]byte{exif}, colors)
	}
	for range rapid.IntRange(0, 3).Draw(t, "others") {
		f.pieces = slices.Insert(f.pieces, rapid.IntRange(0, len(f.pieces)).Draw(t, "at"), other)
	}
	return f
}

// scanned returns the properties found by scanning a file.
func scanned(body []byte) Info {
	info := Info{ContentType: Type(body)}
	info.scan(body)
	return info
}

func TestMetadataIsFoundAmongAllElse(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]string{"jpeg", "png", "webp"}).Draw(t, "format")
		orientation := rapid.IntRange(1, 8).Draw(t, "orientation")
		profile := drawProfile(t, "RGB ")
		f := drawFile(t, format, orientation, profile)
		if got := scanned(f.body()).Orientation; got != orientation {
			t.Errorf("orientation %d, want %d", got, orientation)
		}
		if got := Profile(f.body()); !bytes.Equal(got, profile) {
			t.Errorf("a profile of %d bytes, want %d", len(got), len(profile))
		}
		// A truncated file has the properties before the cut, and no others.
		whole := f.body()
		at := rapid.IntRange(0, len(whole)).Draw(t, "cut")
		cut := whole[:at:at]
		if got := scanned(cut).Orientation; got != orientation && got != upright {
			t.Errorf("cut at %d of %d: orientation %d, want %d", len(cut), len(whole), got, orientation)
		}
		f.end = nil
		if got := scanned(slices.Clip(f.body())).Orientation; got != orientation {
			t.Errorf("without anything behind its metadata: orientation %d, want %d", got, orientation)
		}
		if got := Profile(cut); len(got) == len(profile) && !bytes.Equal(got, profile) {
			t.Errorf("cut at %d of %d: another profile", len(cut), len(whole))
		}
	})
}

func TestProfilesThatAreTooShortOrTooLongAreLeftOut(t *testing.T) {
	for _, size := range []int{1, 127, maxProfile + 1, 10 * maxProfile} {
		profile := make([]byte, size)
		files := map[string][]byte{"webp": slices.Concat(webpStart, webpChunk("ICCP", profile))}
		var packed bytes.Buffer
		writer := zlib.NewWriter(&packed)
		_, _ = writer.Write(profile)
		_ = writer.Close()
		files["png"] = append([]byte("\x89PNG\r\n\x1a\n"),
			pngChunk("iCCP", append([]byte("a\x00\x00"), packed.Bytes()...))...)
		for format, body := range files {
			if got := Profile(body); got != nil {
				t.Errorf("%s: %d bytes of %d", format, len(got), size)
			}
		}
	}
}

// checkChunks checks that a WebP file with metadata is a sequence of chunks, and that the first chunk announces the
// others.
func checkChunks(t *rapid.T, body []byte) {
	var kinds []string
	length, alpha := 12, false
	webpChunks(body, func(kind string, data []byte) {
		kinds = append(kinds, kind)
		length += 8 + len(data) + len(data)%2
		alpha = alpha || kind == "ALPH" || kind == "VP8L" && data[4]&0x10 != 0
	})
	if alpha != (body[20]&0x10 != 0) {
		t.Errorf("%v: the header has %b", kinds, body[20])
	}
	if length != len(body) || binary.LittleEndian.Uint32(body[4:]) != uint32(len(body)-8) {
		t.Errorf("%v take %d of %d bytes", kinds, length, len(body))
	}
	if slices.Index(kinds, "VP8X") != 0 || slices.Contains(kinds[1:], "VP8X") {
		t.Errorf("%v", kinds)
	}
}

// Each scan is a pass over all pixels, no matter how short it is.
func TestFilesOfTooManyScansAreNotTransformed(t *testing.T) {
	body := encode(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewGray(image.Rect(0, 0, 8, 8)), nil) })
	property.Check(t, func(t *rapid.T) {
		scans := rapid.IntRange(maxScans-3, maxScans+3).Draw(t, "scans")
		file := slices.Concat(body[:len(body)-2], bytes.Repeat(segment(0xda, []byte{1, 1, 0, 0, 63, 0}), scans-1),
			body[len(body)-2:])
		info, err := Inspect(file)
		if err != nil || info.JPEG.Scans != scans || (info.Format != "") != (scans <= maxScans) {
			t.Errorf("%d scans: %+v %v", scans, info, err)
		}
	})
}

// The header of a WebP file may declare few pixels although a frame has many, and the file may be truncated.
func TestAWebPFileWhoseSizesDifferIsNotTransformed(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		body, err := os.ReadFile("../testdata/corpus/" +
			rapid.SampledFrom([]string{"lossy", "lossless", "alpha"}).Draw(t, "file") + ".webp")
		if err != nil {
			t.Fatal(err)
		}
		info, err := Inspect(body)
		if err != nil || info.Format != "webp" {
			t.Fatalf("%+v %v", info, err)
		}
		file := WithProfile(body, drawProfile(t, "RGB ")) // now it has such a header
		claimed := request.Size{
			Width:  rapid.IntRange(1, 200).Draw(t, "width"),
			Height: rapid.IntRange(1, 200).Draw(t, "height"),
		}
		copy(file[24:], []byte{byte(claimed.Width - 1), 0, 0, byte(claimed.Height - 1), 0, 0})
		first := max(bytes.Index(file, []byte("VP8L")), bytes.Index(file, []byte("VP8 "))) + 8 + 10
		cut := rapid.IntRange(first, len(file)).Draw(t, "cut")
		got, err := Inspect(file[:cut])
		if err != nil || got.Format != "" && got.Size != info.Size {
			t.Errorf("%v is taken for %+v, %v", info.Size, got, err)
		}
	})
}

func TestAResultKeepsItsPixelsWithAProfile(t *testing.T) {
	bounds := image.Rect(0, 0, 30, 20)
	results := map[string][]byte{
		"jpeg RGB ": encode(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewRGBA(bounds), nil) }),
		"jpeg GRAY": encode(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewGray(bounds), nil) }),
		"png RGB ":  encode(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewNRGBA(bounds)) }),
		"png GRAY":  encode(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewGray16(bounds)) }),
	}
	for _, name := range []string{"lossy", "lossless", "alpha"} {
		body, err := os.ReadFile("../testdata/corpus/" + name + ".webp")
		if err != nil {
			t.Fatal(err)
		}
		results["webp "+name+" RGB "] = body
	}
	for name, result := range results {
		t.Run(name, func(t *testing.T) {
			colors := name[len(name)-4:]
			before, format, err := decodeConfig(result)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				profile := drawProfile(t, colors)
				with := WithProfile(result, profile)
				if !bytes.Equal(Profile(with), profile) {
					t.Errorf("it has a profile of %d bytes, want %d", len(Profile(with)), len(profile))
				}
				after, now, err := decodeConfig(with)
				if err != nil || now != format || after.Width != before.Width || after.Height != before.Height {
					t.Errorf("it was %s %v, and is %s %v %v", format, before, now, after, err)
				}
				if format == "webp" {
					checkChunks(t, with)
				} else {
					was, _, _ := image.Decode(bytes.NewReader(result))
					is, _, err := image.Decode(bytes.NewReader(with))
					if err != nil || fmt.Sprint(was) != fmt.Sprint(is) {
						t.Errorf("other pixels: %v", err)
					}
				}
				// Profiles of other color spaces and truncated profiles are ignored.
				for _, wrong := range [][]byte{drawProfile(t, "CMYK"), profile[:127], nil} {
					if !bytes.Equal(WithProfile(result, wrong), result) {
						t.Errorf("a wrong profile of %d bytes was added", len(wrong))
					}
				}
			})
		})
	}
}

// EXIF data may be truncated and contain any offsets. The orientation then comes from a complete entry or is missing.
func TestAnOrientationIsReadFromAWholeEntry(t *testing.T) {
	for orientation := range uint16(11) {
		for start := range uint32(40) {
			tiff := binary.BigEndian.AppendUint32([]byte("MM\x00*"), start)
			tiff = append(tiff, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, byte(orientation), 0, 0)
			for length := range len(tiff) + 1 {
				want := upright
				if start == 8 && length == len(tiff) && orientation >= 1 && orientation <= 8 {
					want = int(orientation)
				}
				if got := orientationOf(tiff[:length:length]); got != want {
					t.Errorf("orientation %d at %d of %d bytes: %d", orientation, start, length, got)
				}
			}
		}
	}
}
