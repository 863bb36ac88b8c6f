package jpeg

import (
	"bytes"
	"image"
	standard "image/jpeg"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

// drawIntervals draws a gray picture with rows of 6 blocks, each row a restart interval.
func drawIntervals(t *rapid.T, restarts map[int][]byte) (p *picture, l layout) {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "content"), 0))
	var quantization [4][64]uint16
	for k := range quantization[0] {
		quantization[0][k] = 8
		quantization[1], quantization[2], quantization[3] = quantization[0], quantization[0], quantization[0]
	}
	planes := []pictured{{id: 1, horizontal: 1, vertical: 1}}
	p = newPicture(48, 8*rapid.IntRange(3, 20).Draw(t, "rows"), planes, quantization, func(int, int, int) float64 {
		return random.Float64() * 120 // not gray
	})
	return p, layout{frame: baselineFrame, interval: 6, scans: []pass{{components: []int{0}, last: 63}}, restarts: restarts}
}

// rows returns the rows of blocks.
func rows(t *rapid.T, file []byte) (rows [][]byte) {
	img, err := Decode(file, 1)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(samplesOf(img)[0], 8*48))
}

func isGray(samples []byte) bool { return bytes.Count(samples, []byte{128}) == len(samples) }

func TestAFileThatIsCutOffHasItsFirstBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, l := drawIntervals(t, nil)
		if rapid.Bool().Draw(t, "without restart markers") {
			l.interval = 0
		}
		file := p.encode(l)
		start := bytes.LastIndex(file, []byte{0xff, startOfScan}) + 10
		cut := file[:rapid.IntRange(start+(len(file)-start)/3, len(file)).Draw(t, "length")]
		whole, got := rows(t, file), rows(t, cut)
		complete := len(whole) * (len(cut) - start) / (len(file) - start)
		for i := range whole {
			switch equal := bytes.Equal(got[i], whole[i]); {
			case i < complete-2 && !equal:
				t.Fatalf("row %d of %d is not decoded from %d of %d bytes", i, len(whole), len(cut), len(file))
			case i > complete+2 && !isGray(got[i]):
				t.Fatalf("row %d of %d is not gray with %d of %d bytes", i, len(whole), len(cut), len(file))
			}
		}
		if len(cut) >= len(file)-2 && !slices.EqualFunc(got, whole, bytes.Equal) {
			t.Fatal("the file without EOI has other samples")
		}
	})
}

func TestDamageEndsAtTheNextRestartMarker(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		p, l := drawIntervals(t, nil)
		file := p.encode(l)
		start := bytes.LastIndex(file, []byte{0xff, startOfScan}) + 10
		whole := rows(t, file)
		at := rapid.IntRange(start, len(file)-10).Draw(t, "position of the damage")
		damaged := 0
		for i := start; i < at; i++ {
			if file[i] == 0xff && file[i+1] != 0 {
				damaged++
			}
		}
		broken := slices.Clone(file)
		for i := at; i < at+8 && broken[i] != 0xff && broken[i-1] != 0xff; i++ {
			broken[i] = byte(rapid.IntRange(0, 254).Draw(t, "byte")) // no marker
		}
		for i, row := range rows(t, broken) {
			if i != damaged && !bytes.Equal(row, whole[i]) {
				t.Fatalf("row %d differs, although row %d of %d is damaged", i, damaged, len(whole))
			}
		}
	})
}

func TestLostRestartMarkersMoveNoOtherInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lost := rapid.IntRange(0, 20).Draw(t, "lost marker")
		restarts := map[int][]byte{lost: nil}
		if rapid.Bool().Draw(t, "old marker instead") {
			restarts[lost] = []byte{0xff, firstRestart + byte((lost+7)%8), 0xff, firstRestart + byte(lost%8)}
		}
		if rapid.Bool().Draw(t, "garbage before it") {
			restarts[lost+1] = []byte{1, 0xff, 0, 2, 0xff, 7, 0xff, 0xff, firstRestart + byte((lost+1)%8)}
		}
		p, l := drawIntervals(t, restarts)
		got, whole := rows(t, p.encode(l)), []([]byte)(nil)
		l.restarts = nil
		for i, row := range append(whole, rows(t, p.encode(l))...) {
			if i != lost+1 && !bytes.Equal(got[i], row) {
				t.Fatalf("row %d differs, although only marker %d is lost", i, lost)
			}
		}
	})
}

func TestAHeaderWithoutAScanIsNoImage(t *testing.T) {
	file := standardFile(image.NewGray(image.Rect(0, 0, 9, 9)), standard.DefaultQuality)
	start := bytes.Index(file, []byte{0xff, startOfScan})
	for length := range start + 10 {
		if img, err := Decode(file[:length], 1); err == nil {
			t.Errorf("the first %d bytes are an image: %T", length, img)
		}
	}
}

func TestMemoryIsThatOfTheScaledPlanes(t *testing.T) {
	img := image.NewYCbCr(image.Rect(0, 0, 1600, 1600), image.YCbCrSubsampleRatio420)
	file := standardFile(img, standard.DefaultQuality)
	for _, denominator := range []int{1, 2, 4, 8} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Decode(file, denominator); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		got, want := after.TotalAlloc-before.TotalAlloc, uint64(1600*1600*3/2/denominator/denominator+64<<10)
		if got > want {
			t.Errorf("1/%d takes %d bytes, want at most %d", denominator, got, want)
		}
	}
}
