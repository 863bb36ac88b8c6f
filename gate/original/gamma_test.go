package original

import (
	"encoding/binary"
	"math"
	"testing"
)

// chromaticities returns the data of a chunk cHRM.
func chromaticities(values ...float64) (data []byte) {
	for _, value := range values {
		data = binary.BigEndian.AppendUint32(data, uint32(value*100_000+.5))
	}
	return data
}

// The colorants match the profiles published by the ICC and Apple.
func TestColorsOfPNGFilesBecomeAProfile(t *testing.T) {
	header, linear := make([]byte, 13), []byte{0, 1, 0x86, 0xa0}
	header[9] = 2
	for name, test := range map[string]struct {
		primaries []byte
		want      matrix
	}{
		"sRGB": {nil, matrix{{.4361, .2225, .0139}, {.3851, .7169, .0971}, {.1431, .0606, .7141}}},
		"Display P3": {
			chromaticities(.3127, .329, .68, .32, .265, .69, .15, .06),
			matrix{{.5151, .2412, -.0011}, {.2920, .6922, .0419}, {.1571, .0666, .7841}},
		},
	} {
		c := sRGB
		c.add("IHDR", header)
		c.add("gAMA", linear)
		c.add("cHRM", test.primaries)
		got, ok := c.colorants()
		for i := range got {
			for k := range got[i] {
				if !ok || math.Abs(got[i][k]-test.want[i][k]) > .001 {
					t.Fatalf("%s: %v, want %v", name, got, test.want)
				}
			}
		}
		profile := c.profile()
		if len(profile) < 128 || int(binary.BigEndian.Uint32(profile)) != len(profile) || string(profile[16:20]) != "RGB " {
			t.Errorf("%s: %d bytes", name, len(profile))
		}
	}
}

// Results have no chunk cICP, so only a chunk with the default colors can be omitted.
func TestColorsOfFilmsAreNotTransformed(t *testing.T) {
	for data, want := range map[string]bool{
		"\x01\x0d\x00\x01": true, "\x01\x01\x00\x01": true, "\x09\x10\x00\x01": false, "\x0c\x0d\x00\x01": false,
		"\x01\x08\x00\x01": false, "": false,
	} {
		info := Info{}
		if got := info.add("cICP", []byte(data)); got != want {
			t.Errorf("%x: %t", data, got)
		}
	}
}

func TestColorsOfSRGBAndWithoutASenseAreLeftOut(t *testing.T) {
	usual := chromaticities(.3127, .329, .64, .33, .3, .6, .15, .06)
	for name, test := range map[string]struct {
		gamma uint32
		cHRM  []byte
	}{
		"sRGB": {45455, usual}, "no gamma": {0, usual}, "a huge gamma": {math.MaxUint32, usual},
		"no light": {50_000, make([]byte, 32)}, "one primary": {50_000, chromaticities(.3, .3, .3, .3, .3, .3, .3, .3)},
	} {
		c := sRGB
		c.add("gAMA", binary.BigEndian.AppendUint32(nil, test.gamma))
		c.add("cHRM", test.cHRM)
		if profile := c.profile(); profile != nil {
			t.Errorf("%s: a profile of %d bytes", name, len(profile))
		}
	}
	named := sRGB
	named.add("gAMA", []byte{0, 1, 0, 0})
	if named.add("sRGB", []byte{0}); named.profile() != nil {
		t.Error("the chunk sRGB does not take precedence")
	}
}
