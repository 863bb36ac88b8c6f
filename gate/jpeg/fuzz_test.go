package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	standard "image/jpeg"
	"testing"

	"pgregory.net/rapid"
)

// All files that image/jpeg decodes are decoded at the same size, and other denominators divide that size. Nothing
// panics.
func FuzzDecode(f *testing.F) {
	for seed := range 40 {
		f.Add(rapid.Custom(func(t *rapid.T) []byte {
			p := drawPicture(t, seed%2 == 0)
			l, _ := drawLayout(t, p)
			return p.encode(l)
		}).Example(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		for i := range file {
			if rest := file[i:]; len(rest) > 9 && rest[0] == 0xff && rest[1] >= baselineFrame && rest[1] <= progressiveFrame &&
				int(binary.BigEndian.Uint16(rest[5:]))*int(binary.BigEndian.Uint16(rest[7:])) > 1<<16 {
				t.Skip("too large for many tests in a second")
			}
		}
		want, standardErr := standard.Decode(bytes.NewReader(file))
		whole, err := Decode(file, 1)
		if standardErr == nil && !want.Bounds().Empty() && (err != nil || whole.Bounds() != want.Bounds()) {
			t.Fatalf("got %v, image/jpeg decodes it", err)
		}
		for _, denominator := range []int{2, 4, 8} {
			img, scaledErr := Decode(file, denominator)
			if err != nil {
				continue
			}
			if scaledErr != nil {
				t.Fatalf("1/%d: %v, 1/1 is decoded", denominator, scaledErr)
			}
			size, scaled := whole.Bounds().Max, img.Bounds().Max
			if scaled.X != ceil(size.X, denominator) || scaled.Y != ceil(size.Y, denominator) {
				t.Fatalf("1/%d of %v is %v", denominator, size, scaled)
			}
		}
	})
}

func TestUnknownCodingsAreUnsupported(t *testing.T) {
	for name, file := range map[string][]byte{
		"arithmetic":   append([]byte{0xff, startOfImage}, segment(0xc9, 8, 0, 8, 0, 8, 1, 1, 0x11, 0)...),
		"lossless":     append([]byte{0xff, startOfImage}, segment(0xc3, 8, 0, 8, 0, 8, 1, 1, 0x11, 0)...),
		"hierarchical": append([]byte{0xff, startOfImage}, segment(hierarchical, 8, 0, 8, 0, 8, 1, 1, 0x11, 0)...),
		"12 bits":      append([]byte{0xff, startOfImage}, segment(extendedFrame, 12, 0, 8, 0, 8, 1, 1, 0x11, 0)...),
		"no height":    append([]byte{0xff, startOfImage}, segment(baselineFrame, 8, 0, 0, 0, 8, 1, 1, 0x11, 0)...),
		"sampling":     append([]byte{0xff, startOfImage}, segment(baselineFrame, 8, 0, 8, 0, 8, 3, 1, 0x31, 0, 2, 0x11, 0, 3, 0x11, 0)...),
		"components":   append([]byte{0xff, startOfImage}, segment(baselineFrame, 8, 0, 8, 0, 8, 2, 1, 0x11, 0, 2, 0x11, 0)...),
	} {
		if _, err := Decode(file, 1); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: got %v, want %v", name, err, ErrUnsupported)
		}
		var standardErr standard.UnsupportedError
		_, err := standard.Decode(bytes.NewReader(file))
		if !errors.As(err, &standardErr) && name != "no height" { // image/jpeg returns an empty image
			t.Errorf("%s: image/jpeg returns %v, want an UnsupportedError", name, err)
		}
	}
}
