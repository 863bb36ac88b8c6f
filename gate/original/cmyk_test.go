package original

import (
	"encoding/binary"
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

// encodedColor encodes an sRGB color as in a profile, in L*a*b* or XYZ.
func encodedColor(c color.RGBA, lab, wide bool) (out vector) {
	var linear vector
	for i, v := range []uint8{c.R, c.G, c.B} {
		if linear[i] = float64(v) / 255 / 12.92; v > 10 {
			linear[i] = math.Pow((float64(v)/255+.055)/1.055, 2.4)
		}
	}
	columns, _ := sRGB.colorants()
	xyz := columns.times(linear)
	if !lab {
		for i := range xyz {
			out[i] = xyz[i] * 32768 / 65535
		}
		return out
	}
	for i := range xyz {
		if xyz[i] /= d50[i]; xyz[i] > 216./24389 {
			xyz[i] = math.Cbrt(xyz[i])
		} else {
			xyz[i] = (xyz[i]*24389/27 + 16) / 116
		}
	}
	l, a, b := 116*xyz[1]-16, 500*(xyz[0]-xyz[1]), 200*(xyz[1]-xyz[2])
	if wide {
		return vector{l / 100 * 65280 / 65535, (a + 128) * 256 / 65535, (b + 128) * 256 / 65535}
	}
	return vector{l / 100, (a + 128) / 255, (b + 128) / 255}
}

// difference returns the distance of two colors in L*a*b*. A distance of 2 is just visible. In the dark channel of a
// bright color, one step of encoded L*a*b* equals ten steps of sRGB.
func difference(one, other color.RGBA) float64 {
	a, b := encodedColor(one, true, false), encodedColor(other, true, false)
	return math.Sqrt(math.Pow(100*(a[0]-b[0]), 2) + math.Pow(255*(a[1]-b[1]), 2) + math.Pow(255*(a[2]-b[2]), 2))
}

// printer describes a CMYK profile. Each ink absorbs light by a power of its amount.
type printer struct {
	lab, wide bool
	row       int
	power     float64
}

func (p printer) color(amounts [inks]float64) color.RGBA {
	part := func(ink int) uint8 {
		return uint8(255*(1-math.Pow(amounts[ink], p.power))*(1-math.Pow(amounts[3], p.power)) + .5)
	}
	return color.RGBA{part(0), part(1), part(2), 255}
}

// file returns a JPEG file with the profile and without image data.
func (p printer) file() []byte {
	number := func(out []byte, v float64) []byte {
		if p.wide {
			return binary.BigEndian.AppendUint16(out, uint16(min(max(v, 0), 1)*65535+.5))
		}
		return append(out, byte(min(max(v, 0), 1)*255+.5))
	}
	table := append([]byte("mft1\x00\x00\x00\x00\x04\x03"), byte(p.row), 0)
	table = append(table, make([]byte, 36)...)
	if p.wide {
		table[3] = '2'
		table = append(table, 1, 0, 1, 0)
	}
	for i := range inks * 256 {
		table = number(table, math.Pow(float64(i%256)/255, p.power))
	}
	for i := range p.row * p.row * p.row * p.row {
		var amounts [inks]float64
		for ink := inks - 1; ink >= 0; ink-- {
			amounts[ink] = math.Pow(float64(i%p.row)/float64(p.row-1), 1/p.power)
			i /= p.row
		}
		for _, v := range encodedColor(p.color(amounts), p.lab, p.wide) {
			table = number(table, v)
		}
	}
	for i := range channels * 256 {
		table = number(table, float64(i%256)/255)
	}
	profile := iccOf("CMYK", []tag{{"desc", []byte("desc")}, {"A2B0", table}})
	if p.lab {
		copy(profile[20:], "Lab ")
	}
	return jpegWith(profile)
}

// jpegWith returns a JPEG header with a profile in as many segments as needed.
func jpegWith(profile []byte) []byte {
	const most = 60_000
	file, count := []byte("\xff\xd8"), (len(profile)+most-1)/most
	for i := range count {
		part := profile[i*most : min((i+1)*most, len(profile))]
		file = binary.BigEndian.AppendUint16(append(file, "\xff"+profileData...), uint16(2+14+len(part)))
		file = append(append(file, "ICC_PROFILE\x00"...), byte(i+1), byte(count))
		file = append(file, part...)
	}
	return append(file, 0xff, 0xd9)
}

func TestCMYKIsConvertedByItsProfile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := printer{
			lab: rapid.Bool().Draw(t, "Lab"), wide: rapid.Bool().Draw(t, "16 bits"),
			row: rapid.IntRange(5, 12).Draw(t, "nodes"), power: rapid.Float64Range(.6, 1.6).Draw(t, "power"),
		}
		p.wide = p.wide || !p.lab
		profile := CMYK(p.file())
		if profile == nil {
			t.Fatalf("%+v is not read", p)
		}
		// Interpolation between few nodes is coarse.
		tolerance := max(4, 80/float64((p.row-1)*(p.row-1)))
		from := image.NewCMYK(image.Rect(0, 0, 8, 1))
		copy(from.Pix, rapid.SliceOfN(rapid.Byte(), len(from.Pix), len(from.Pix)).Draw(t, "amounts"))
		to := image.NewRGBA(from.Rect)
		profile.Convert(to, from)
		for x := range from.Rect.Dx() {
			var amounts [inks]float64
			for ink, v := range from.Pix[4*x : 4*x+4] {
				amounts[ink] = float64(v) / 255
			}
			got, want := to.RGBAAt(x, 0), p.color(amounts)
			if distance := difference(got, want); distance > tolerance || got.A != 255 {
				t.Errorf("%+v: %v is %v, want %v: a difference of %.1f", p, from.Pix[4*x:4*x+4], got, want, distance)
			}
		}
	})
}

// A damaged profile is ignored or results in wrong colors, but causes no other harm.
func TestADamagedCMYKProfileDoesNoHarm(t *testing.T) {
	whole := printer{lab: true, row: 3, power: 1}.file()
	from := image.NewCMYK(image.Rect(0, 0, 3, 1))
	copy(from.Pix, "\x00\x00\x00\x00\xff\xff\xff\xff\x80\x40\xff\x00")
	property.Check(t, func(t *rapid.T) {
		file := append([]byte{}, whole[:rapid.IntRange(0, len(whole)).Draw(t, "length")]...)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			if at := rapid.IntRange(0, 300).Draw(t, "at"); at < len(file) {
				file[at] = rapid.Byte().Draw(t, "value")
			}
		}
		if profile := CMYK(file); profile != nil {
			profile.Convert(image.NewRGBA(from.Rect), from)
		}
	})
}
