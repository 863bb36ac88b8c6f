//go:build likeness

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"maps"
	"math"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// leastAlike returns the minimum likeness of a result in dB, with ImageMagick as the decoder of both images.
func leastAlike(kind string) float64 {
	if kind == "palette.png" {
		return 30 // Darkroom interpolates between the dots of a dithered image
	}
	return 37
}

// convert returns the name of ImageMagick's program.
func convert() string {
	if debian, err := exec.LookPath("convert-im6.q16"); err == nil {
		return debian
	}
	return "convert"
}

// orientations contains ImageMagick's names of orientations. It reads the orientation of JPEG files only.
var orientations = []string{
	"TopLeft", "TopRight", "BottomRight", "BottomLeft", "LeftTop", "RightTop",
	"RightBottom", "LeftBottom",
}

// Results of the corpus are compared with ImageMagick's: it decodes the original, rotates it upright and resizes it,
// and decodes the result of the gate. -update writes the values in dB to testdata/likeness.txt. This test finds
// errors of Go's decoders, which the gate and the other tests use.
func TestLikeness(t *testing.T) {
	o := newOrigin(t)
	o.respond(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(corpus()[strings.TrimPrefix(r.URL.Path, "/")])
	})
	recorded, err := os.ReadFile("testdata/likeness.txt")
	if err != nil && !*update {
		t.Fatal(err)
	}
	var table strings.Builder
	g := start(t, o.url, nil)
	for _, kind := range slices.Sorted(maps.Keys(corpus())) {
		for _, transformation := range transformations {
			got := g.do(http.MethodGet, "/"+kind+"?"+transformation.query, acceptsWebP)
			if kind == "truncated.jpg" || got.status != http.StatusOK || bytes.Equal(got.body, corpus()[kind]) {
				continue
			}
			alike := alikeInMagick(t, kind, got.body, transformation.query)
			line := fmt.Sprintf("%-24s %-30s", kind, transformation.query)
			fmt.Fprintf(&table, "%s %.0f\n", line, alike)
			if least := leastAlike(kind); alike < least {
				t.Errorf("%s: %.1f dB, want %.0f", line, alike, least)
			}
			if _, rest, found := strings.Cut(string(recorded), line); found && !*update {
				var before float64
				if _, err := fmt.Sscan(rest, &before); err != nil || alike < before-1 {
					t.Errorf("%s: %.1f dB, recorded are %.0f: %v", line, alike, before, err)
				}
			} else if !*update {
				t.Errorf("%s is not recorded", line)
			}
		}
	}
	if *update {
		if err := os.WriteFile("testdata/likeness.txt", []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Profiles of the Debian packages libgs-common and icc-profiles-free.
const (
	cmykProfile   = "/usr/share/color/icc/ghostscript/default_cmyk.icc"
	screenProfile = "/usr/share/color/icc/ghostscript/srgb.icc"
)

// CMYK conversion by profile matches Little CMS in ImageMagick within ten units in each channel.
func TestLikenessOfCMYK(t *testing.T) {
	if _, err := os.Stat(cmykProfile); err != nil {
		t.Skip(err)
	}
	patches := []string{"-size", "100x100"}
	for _, color := range []string{"navy", "lime", "black", "white", "red", "rgb(200,120,90)", "rgb(20,30,90)", "gray"} {
		patches = append(patches, "xc:"+color)
	}
	patches = append(patches, "+append", "-profile", screenProfile, "-profile", cmykProfile, "-quality", "98",
		"-sampling-factor", "1x1", "jpeg:-")
	file, err := exec.Command(convert(), patches...).Output()
	if err != nil {
		t.Fatal(err)
	}
	o := newOrigin(t)
	o.respond(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(file) })
	got := start(t, o.url, nil).do(http.MethodGet, "/patches.jpg?w=400&q=100", nil)
	want := magick(t, file, "-profile", screenProfile, "-sample", "400x50!")
	samples := magick(t, got.body)
	for x := 25; x < 400; x += 50 {
		at := 3 * (25*400 + x)
		for i := range 3 {
			if math.Abs(want[at+i]-samples[at+i]) > 10 {
				t.Errorf("patch %d: %v, want %v", x/50, samples[at:at+3], want[at:at+3])
			}
		}
	}
}

// magick decodes an image to RGB samples on gray, from 0 to 255. ImageMagick would round down to 8 bits.
func magick(t *testing.T, body []byte, arguments ...string) []float64 {
	t.Helper()
	program := convert()
	arguments = slices.Concat([]string{"-[0]", "-auto-orient", "+repage", "-background", "gray50", "-alpha", "remove"},
		arguments,
		[]string{"-colorspace", "sRGB", "-depth", "16", "-endian", "MSB", "rgb:-"})
	command := exec.Command(program, arguments...)
	command.Stdin = bytes.NewReader(body)
	var out, failure bytes.Buffer
	command.Stdout, command.Stderr = &out, &failure
	if err := command.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s", program, arguments, err, failure.String())
	}
	samples := make([]float64, out.Len()/2)
	for i := range samples {
		samples[i] = float64(binary.BigEndian.Uint16(out.Bytes()[2*i:])) / 257
	}
	return samples
}

func alikeInMagick(t *testing.T, kind string, result []byte, query string) float64 {
	t.Helper()
	config, _, err := image.DecodeConfig(bytes.NewReader(result))
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{"-resize", fmt.Sprintf("%dx%d!", config.Width, config.Height)}
	if strings.Contains(query, "crop=left") {
		arguments = []string{
			"-resize", fmt.Sprintf("x%d", config.Height), "-crop",
			fmt.Sprintf("%dx%d+0+0", config.Width, config.Height),
		}
	}
	var orientation int
	if n, _ := fmt.Sscanf(kind, "orientation%d", &orientation); n == 1 && !strings.HasSuffix(kind, ".jpg") {
		arguments = append([]string{"-orient", orientations[orientation-1], "-auto-orient", "+repage"}, arguments...)
	}
	var colors []string
	if kind == "gamma.png" { // ImageMagick applies gAMA; the result has a profile instead
		colors = []string{"-profile", screenProfile}
	}
	want, got := magick(t, corpus()[kind], arguments...), magick(t, result, colors...)
	if len(want) != len(got) {
		t.Fatalf("%d samples, want %d", len(got), len(want))
	}
	var sum float64
	for i := range want {
		d := want[i] - got[i]
		sum += d * d
	}
	return 10 * math.Log10(255*255/max(sum/float64(len(want)), 1e-3))
}
