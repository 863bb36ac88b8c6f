package original

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

func encode(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestImagesAreDescribedByTheirContent(t *testing.T) {
	bounds := image.Rect(0, 0, 30, 20)
	photo := encode(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewRGBA(bounds), nil) })
	gray := encode(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewGray(bounds), nil) })
	boxes := func(brand string) []byte { // with the sizes of the image and of a part
		const size = " ispe\x00\x00\x00\x00\x00\x00\x00"
		return []byte("\x00\x00\x00\x1cftyp" + brand + "\x00\x00\x00\x00" + size + "\x1e\x00\x00\x00\x14" +
			size + "\x01\x00\x00\x00\x14")
	}
	for name, test := range map[string]struct {
		body []byte
		want Info
	}{
		"JPEG": {photo, Info{
			Format: "jpeg", ContentType: "image/jpeg", BytesPerPixel: 3,
			JPEG: JPEG{Scans: 1, Samples: 1.5, Length: len(photo)},
		}},
		"PNG": {
			encode(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewNRGBA(bounds)) }),
			Info{Format: "png", ContentType: "image/png", BytesPerPixel: 4},
		},
		"PNG with 16 bits": {
			encode(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewNRGBA64(bounds)) }),
			Info{Format: "png", ContentType: "image/png", BytesPerPixel: 8},
		},
		"GIF": {
			encode(t, func(b *bytes.Buffer) error {
				return gif.Encode(b, image.NewPaletted(bounds, color.Palette{color.Black}), nil)
			}),
			Info{ContentType: "image/gif", BytesPerPixel: 1},
		},
		"AVIF": {boxes("avif"), Info{ContentType: "image/avif"}},
		"HEIC": {boxes("heix"), Info{ContentType: "image/heic"}},
		"HEIF": {boxes("mif1"), Info{ContentType: "image/heif"}},
		"gray JPEG": {gray, Info{
			Format: "jpeg", ContentType: "image/jpeg", BytesPerPixel: 1,
			JPEG: JPEG{Scans: 1, Samples: 1, Length: len(gray)},
		}},
		"CMYK": {
			[]byte(
				"\xff\xd8\xff\xc0\x00\x14\x08\x00\x14\x00\x1e\x04\x01\x11\x00\x02\x11\x00\x03\x11\x00\x04\x11\x00\xff\xda\x00\x04ab",
			),
			Info{
				Format: "jpeg", ContentType: "image/jpeg", BytesPerPixel: 8,
				JPEG: JPEG{CMYK: true, Converted: true, Scans: 1, Samples: 4, Length: 30},
			},
		},
		"JPEG, unreadable": {
			slices.Concat(photo[:2], photo),
			Info{ContentType: "image/jpeg", JPEG: JPEG{Scans: 1, Samples: 1.5, Length: len(photo) + 2}},
		},
	} {
		got, err := Inspect(test.body)
		test.want.Size, test.want.Orientation = request.Size{Width: 30, Height: 20}, 1
		if err != nil || got != test.want {
			t.Errorf("%s: %+v %v, want %+v", name, got, err, test.want)
		}
	}
}

func TestTheSizeIsThatOfTheUprightImage(t *testing.T) {
	photo := encode(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewRGBA(image.Rect(0, 0, 30, 20)), nil) })
	for orientation := 1; orientation <= 8; orientation++ {
		exif := "Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" +
			string(rune(orientation)) + "\x00\x00\x00"
		info, err := Inspect(slices.Insert(bytes.Clone(photo), 2, segment(0xe1, []byte(exif))...))
		want := request.Size{Width: 30, Height: 20}
		if orientation >= 5 {
			want = request.Size{Width: 20, Height: 30}
		}
		if err != nil || info.Orientation != orientation || info.Size != want {
			t.Errorf("%d: %+v %v, want %+v", orientation, info, err, want)
		}
	}
}

func TestAnImageWithoutPixelsIsNotTransformed(t *testing.T) {
	for _, size := range []string{"\x00\x00\x02\x00", "\x02\x00\x00\x00"} {
		frame := webpChunk("VP8 ", []byte("\x10\x00\x00\x9d\x01\x2a"+size))
		if info, err := Inspect(slices.Concat([]byte("RIFF\x16\x00\x00\x00WEBP"), frame)); err != nil || info.Format != "" {
			t.Errorf("%q: %+v %v", size, info, err)
		}
	}
}

func TestWhatIsNotAnImageIsRefused(t *testing.T) {
	for _, body := range []string{
		"", "<html><script>alert(1)</script>", "<!-- <svg> --><html>", "<?xml?><html><svg/>", "<svgx/>", "<svg",
		"<!-- <svg/>", "<!DOCTYPE html><svg/>", "{}",
		"\x00\x00\x00\x1cftypmp42", "\x00\x00\x00\x1cftyp",
	} {
		if info, err := Inspect([]byte(body)); !problem.Is(err, problem.NotAnImage) {
			t.Errorf("%q: %+v %v", body, info, err)
		}
	}
}

func TestDrawingsAreRecognizedByTheirRootElement(t *testing.T) {
	for _, body := range []string{
		"<svg>", "<svg/>", " \n<svg\txmlns='a'>", "\xef\xbb\xbf<?xml version='1.0'?><!-- > --><svg >",
		"<!DOCTYPE svg PUBLIC 'a'>\n<svg>",
		"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>", "<svg:svg xmlns:svg='a'>",
		"<?xml version='1.0' encoding='ISO-8859-1'?><svg x='\xe9' xmlns='&a;'>",
		"<!--" + strings.Repeat(" ", 10_000) + "--><svg>",
	} {
		if got := Type([]byte(body)); got != SVG {
			t.Errorf("%q: %q", body, got)
		}
	}
}

func TestImagesThatGoDoesNotKnowAreRecognized(t *testing.T) {
	drawing := utf16.Encode([]rune("<?xml version='1.0' encoding='UTF-16'?><svg>"))
	big, little := []byte("\xfe\xff"), []byte("\xff\xfe")
	for _, unit := range drawing {
		big, little = binary.BigEndian.AppendUint16(big, unit), binary.LittleEndian.AppendUint16(little, unit)
	}
	for body, want := range map[string]string{
		"\xff\x0a\x00": "image/jxl", "\x00\x00\x00\x0cJXL \r\n\x87\n\x00": "image/jxl", string(big): SVG, string(little): SVG,
		"\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00": "", "\xff\xfe": "",
	} {
		if got := Type([]byte(body)); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

func TestSegmentsOfJPEGFiles(t *testing.T) {
	exif := "\xff\xe1\x00\x22Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
	frame := "\xff\xff\xc2\x00\x11\x08\x00\x14\x00\x1e\x03\x01\x22\x00\x02\x11\x00\x03\x11\x00"
	scan := "\xff\xda\x00\x04ab"
	pixels := "\x01\xff\x00\xda\xff\xd0\xff\xff"
	file := "\xff\xd8" + "\xff\xe1\x00\x04ab" + exif + frame + scan + pixels + scan + pixels + "\xff\xd9"
	behind := "\xff\xda\x00\x04ab" + strings.Replace(exif, "\x06", "\x08", 1)
	got := scanned([]byte(file + behind))
	want := JPEG{Progressive: true, Scans: 2, Samples: 1.5, Length: len(file)}
	if got.JPEG != want || got.Size != (request.Size{Width: 30, Height: 20}) || got.Orientation != 6 {
		t.Errorf("%+v, want %+v", got, want)
	}
	got = scanned([]byte("\xff\xd8\xff\xff\xff\xc0\x00\x04ab"))
	if got.JPEG != (JPEG{Length: 10}) || got.Orientation != 1 {
		t.Errorf("%+v", got)
	}
}

// Two hundred scans of eight bytes each cause two hundred passes over 12 megapixels.
func TestAFileThatIsDecodedInManyPassesIsNotTransformed(t *testing.T) {
	file := "\xff\xd8" + "\xff\xc2\x00\x0b\x08\x0b\xb8\x0f\xa0\x01\x01\x11\x00" +
		strings.Repeat("\xff\xda\x00\x08\x01\x01\x00\x00\x00\x00", 200)
	if info, err := Inspect([]byte(file)); err != nil || info.Format != "" || info.Size.Width != 4000 {
		t.Errorf("%+v %v", info, err)
	}
}

func TestMalformedOrientationsAreIgnored(t *testing.T) {
	for _, tiff := range []string{
		"", "II\x2a\x00\x08\x00\x00\x00\x01", "II\x2a\x00\xff\xff\xff\xff\x01\x00",
		"II\x2a\x00\x08\x00\x00\x00\xff\xff\x12\x01",
		"II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x09\x00\x00\x00", // 9
		"II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x00\x00\x00\x00", // 0
		"II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x04\x00\x01\x00\x00\x00\x06\x00\x00\x00", // another type
	} {
		if got := orientationOf([]byte(tiff)); got != 1 {
			t.Errorf("%q: %d", tiff, got)
		}
	}
}

// grayPNG returns a gray image with a transparent color. It is interlaced if passes has more than one size.
func grayPNG(bounds image.Rectangle, depth byte, passes ...image.Point) []byte {
	file := bytes.NewBufferString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		_ = binary.Write(file, binary.BigEndian, uint32(len(data)))
		sum := crc32.ChecksumIEEE(append([]byte(kind), data...))
		file.WriteString(kind)
		file.Write(data)
		_ = binary.Write(file, binary.BigEndian, sum)
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(bounds.Dx()))
	header = binary.BigEndian.AppendUint32(header, uint32(bounds.Dy()))
	chunk("IHDR", append(header, depth, 0, 0, 0, byte(min(1, len(passes)-1))))
	chunk("tRNS", []byte{0, 0})
	var pixels bytes.Buffer
	compress := zlib.NewWriter(&pixels)
	for _, pass := range passes {
		_, _ = compress.Write(make([]byte, pass.Y*(1+pass.X*int(depth)/8)))
	}
	_ = compress.Close()
	chunk("IDAT", pixels.Bytes())
	chunk("IEND", nil)
	return file.Bytes()
}

func TestDecodersDoNotNeedMoreMemoryThanIsExpected(t *testing.T) {
	bounds := image.Rect(0, 0, 1024, 1024)
	var passes []image.Point
	for _, p := range []image.Point{{8, 8}, {8, 8}, {4, 8}, {4, 4}, {2, 4}, {2, 2}, {1, 2}} {
		passes = append(passes, image.Pt(1024/p.X, 1024/p.Y))
	}
	files := map[string][]byte{
		"photograph": encode(t,
			func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewRGBA(bounds), nil) }),
		"gray photograph": encode(t,
			func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewGray(bounds), nil) }),
		"PNG": encode(t,
			func(b *bytes.Buffer) error { return png.Encode(b, image.NewNRGBA(bounds)) }),
		"transparent gray PNG":               grayPNG(bounds, 8, bounds.Max),
		"deep transparent gray PNG":          grayPNG(bounds, 16, bounds.Max),
		"interlaced transparent gray PNG":    grayPNG(bounds, 8, passes...),
		"interlaced, deep, transparent gray": grayPNG(bounds, 16, passes...),
	}
	for name, body := range maps.Clone(files) { // Go's decoder accepts other data here
		if bytes.HasPrefix(body, []byte("\x89PNG")) {
			files[name+", behind a comment"] = slices.Insert(bytes.Clone(body), 8, pngChunk("teXt", []byte("a comment"))...)
		}
	}
	for name, body := range files {
		info, err := Inspect(body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := image.Decode(bytes.NewReader(body)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		needed := float64(after.TotalAlloc-before.TotalAlloc) / float64(info.Size.Pixels())
		if needed > info.BytesPerPixel+.25 {
			t.Errorf("%s: %.1f bytes for each pixel, expected %g", name, needed, info.BytesPerPixel)
		}
	}
}

// Darkroom v0.4.2 needs 68 MiB for a 12-megapixel JPEG with w=300.
func TestTheWeightIsAnUpperBoundOfTheMeasuredMemory(t *testing.T) {
	info := Info{Format: "jpeg", Size: request.Size{Width: 4000, Height: 3000}, BytesPerPixel: 3}
	if got := Weight(info, 2<<20, request.Transform{Width: 300}); got>>20 < 68 || got != 93_860_031 {
		t.Errorf("%d bytes", got)
	}
	if got := Weight(info, 2<<20, request.Transform{}); got != 185_720_031 {
		t.Errorf("%d bytes without scaling", got)
	}
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x04eXIfII\x2a\x00\x00\x00\x00\x00"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPEXIF\x01\x00\x00\x00I\x00ICCP\xff\xff\xff\x7f"))
	f.Add([]byte("\x00\x00\x00\x1cftypheic ispe\x00\x00\x00\x00\x00\x00\x00\x1e"))
	f.Add([]byte("<!DOCTYPE svg [ ]><svg>"))
	f.Fuzz(func(_ *testing.T, body []byte) {
		_, _ = Inspect(body)
		_, _ = Inspect(append([]byte("\xff\xd8\xff"), body...))
		_ = WithProfile(body, Profile(body))
	})
}
