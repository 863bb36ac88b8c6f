package original

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

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
	for name, test := range map[string]struct {
		body []byte
		want Info
	}{
		"JPEG": {photo, Info{Format: "jpeg", ContentType: "image/jpeg", BytesPerPixel: 3}},
		"PNG":  {encode(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewNRGBA(bounds)) }), Info{Format: "png", ContentType: "image/png", BytesPerPixel: 4}},
		"PNG with 16 bits": {
			encode(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewNRGBA64(bounds)) }),
			Info{Format: "png", ContentType: "image/png", BytesPerPixel: 8},
		},
		"GIF": {
			encode(t, func(b *bytes.Buffer) error {
				return gif.Encode(b, image.NewPaletted(bounds, color.Palette{color.Black}), nil)
			}),
			Info{Format: "gif", ContentType: "image/gif", BytesPerPixel: 1},
		},
		"AVIF": {[]byte("\x00\x00\x00\x1cftypavif\x00\x00\x00\x00"), Info{ContentType: "image/avif"}},
		"BMP":  {[]byte("BM\x00\x00"), Info{ContentType: "image/bmp"}},
	} {
		got, err := Inspect(test.body)
		if test.want.Format != "" {
			test.want.Size = request.Size{Width: 30, Height: 20}
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %+v %v, want %+v", name, got, err, test.want)
		}
	}
}

func TestWhatIsNotAnImageIsRefused(t *testing.T) {
	for _, body := range []string{
		"", "<html><script>alert(1)</script>", `<svg xmlns="http://www.w3.org/2000/svg"/>`, "{}", "\x00\x00\x00\x1cftypmp42", "\xff\xd8\xff", "\x89PNG\r\n\x1a\n",
	} {
		if info, err := Inspect([]byte(body)); problem.Of(err).Status != 415 {
			t.Errorf("%q: %+v %v", body, info, err)
		}
	}
}

func TestOrientationAndProgression(t *testing.T) {
	exif := "\xff\xe1\x00\x22Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
	if got := scanJPEG([]byte("\xff\xd8" + exif + "\xff\xc2\x00\x04ab")); got != (JPEG{Progressive: true, Orientation: 6}) {
		t.Errorf("%+v", got)
	}
	if got := scanJPEG([]byte("\xff\xd8\xff\xff\xff\xc0\x00\x04ab")); got != (JPEG{}) {
		t.Errorf("%+v", got)
	}
}

// Darkroom v0.4.2 takes 68 MiB for a JPEG of 12 megapixels with w=300.
func TestTheWeightIsAnUpperBoundOfTheMeasuredMemory(t *testing.T) {
	info := Info{Format: "jpeg", Size: request.Size{Width: 4000, Height: 3000}, BytesPerPixel: 3}
	if got := Weight(info, 2<<20, request.Transform{Width: 300}) >> 20; got < 68 || got > 100 {
		t.Errorf("%d MiB", got)
	}
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01"))
	f.Fuzz(func(_ *testing.T, body []byte) {
		_, _ = Inspect(body)
		_ = scanJPEG(append([]byte("\xff\xd8"), body...))
		_ = orientation(append([]byte("Exif\x00\x00"), body...))
	})
}
