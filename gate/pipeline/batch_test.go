package pipeline

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// photo returns a JPEG file without sharp edges, so that results at other scales are similar.
func photo(size image.Point) []byte {
	img := image.NewGray(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			img.SetGray(x, y, color.Gray{Y: byte(128 + 60*math.Sin(float64(x)/40) + 60*math.Cos(float64(y)/30))})
		}
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 95}); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// likeness returns the signal-to-noise ratio of two gray JPEG files in dB.
func likeness(t *rapid.T, one, other []byte) float64 {
	a, err := jpeg.Decode(bytes.NewReader(one))
	b, err2 := jpeg.Decode(bytes.NewReader(other))
	if err != nil || err2 != nil || a.Bounds() != b.Bounds() {
		t.Fatalf("%v, %v", err, err2)
	}
	var sum float64
	for i, value := range a.(*image.Gray).Pix {
		d := float64(value) - float64(b.(*image.Gray).Pix[i])
		sum += d * d
	}
	return 10 * math.Log10(255*255*float64(len(a.(*image.Gray).Pix))/max(sum, 1e-9))
}

// renderings returns the number of decodings.
func renderings(t *testing.T, p *Pipeline) (count int) {
	t.Helper()
	families, err := p.metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == namespace+"_render_duration_seconds" {
			for _, metric := range family.GetMetric() {
				count += int(metric.GetHistogram().GetSampleCount())
			}
		}
	}
	return count
}

// occupy takes all memory of a queue.
func occupy(t *testing.T, q *fairqueue.Queue) fairqueue.Release {
	t.Helper()
	release, err := q.Acquire(fairqueue.For(t.Context(), "another"), 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// For any sizes of a photo that wait for memory, even if one request leaves, the photo is decoded once and each result
// resembles the result of a single request.
func TestResultsThatWaitForAPhotoAreMadeOfItsPixelsTogether(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(rt, name) }
		file := photo(image.Pt(draw("width", 200, 900), draw("height", 200, 900)))
		widths := rapid.SliceOfNDistinct(rapid.IntRange(40, 190), 2, 8, rapid.ID).Draw(rt, "widths")
		leaves := draw("one that leaves", 0, len(widths)) // or none
		made := func(widths []int, leaves int) (bodies [][]byte, decoded int) {
			bodies = make([][]byte, len(widths))
			synctest.Test(t, func(t *testing.T) {
				o := options(func(context.Context, source.Request) (*source.Response, error) { return respond(file, nil) })
				o.Rules, o.MaxSourcePixels = request.Rules{MaxWidth: 1000, MaxHeight: 1000}, 1e6
				p := newPipelineWith(o, cache.Options{Memory: memory / 4})
				defer p.failures.StopAllGoroutines()
				begin := occupy(t, p.queues.lightRenders)
				for i, width := range widths {
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					go func() {
						entry, _, err := p.Get(ctx, "a", resized("/a.jpg", width))
						if err == nil {
							bodies[i] = entry.Body
						} else if i != leaves {
							t.Errorf("w=%d: %v", width, problem.Of(err))
						}
					}()
					synctest.Wait()
					if i == leaves {
						leave()
						synctest.Wait()
					}
				}
				begin(0)
				synctest.Wait()
				decoded = renderings(t, p)
			})
			return bodies, decoded
		}
		together, decoded := made(widths, leaves)
		if decoded != 1 {
			rt.Fatalf("decoded %d times for %v", decoded, widths)
		}
		for i, width := range widths {
			if i == leaves {
				continue
			}
			alone, _ := made([]int{width}, -1)
			if got := likeness(rt, together[i], alone[0]); got < 32 {
				rt.Errorf("w=%d of %v: %.1f dB", width, widths, got)
			}
		}
	})
}

func TestAResultDoesNotJoinABatchThatHasBegunOrIsFull(t *testing.T) {
	info, err := original.Inspect(photo(image.Pt(200, 200)))
	if err != nil {
		t.Fatal(err)
	}
	p := newPipeline(nil)
	of := &flight{info: info, ctx: t.Context()}
	of.mu.Lock() // so that no batch begins by itself
	join := func(width int) *batch {
		plan := render.New(info, request.Transform{Width: width}, false)
		p.join(of, plan)
		for _, b := range of.batches {
			if slices.Contains(plansOf(b.renderings), plan) {
				return b
			}
		}
		return nil
	}
	first := join(1)
	for width := 2; width <= maxTogether; width++ {
		if join(width) != first {
			t.Errorf("w=%d is not in the first batch", width)
		}
	}
	second := join(100)
	if third := join(101); second == first || third != second {
		t.Error("a full batch accepted another result, or a waiting one did not")
	}
	second.most = 0 // as begin sets it
	if join(102) == second || join(100) != second {
		t.Error("a started batch accepted another result, or its own result is created twice")
	}
	of.batches = nil
	of.mu.Unlock()
}

func TestAResultNeverWaitsForALargerOneOfItsBatch(t *testing.T) {
	p := newPipeline(nil)
	p.Rules = request.Rules{MaxWidth: 1000, MaxHeight: 1000}
	file := photo(image.Pt(300, 200))
	info, err := original.Inspect(file)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		widths := rapid.SliceOfNDistinct(rapid.IntRange(10, 290), 2, maxTogether, rapid.ID).Draw(t, "widths")
		of := &flight{info: info, body: file, ctx: fairqueue.For(context.Background(), "a")}
		all := make([]*rendering, len(widths))
		of.mu.Lock()
		for i, width := range widths {
			all[i], _ = p.join(of, render.New(info, request.Transform{Width: width}, false))
		}
		of.mu.Unlock()
		var requests sync.WaitGroup
		for _, mine := range all {
			requests.Go(func() {
				if _, err := p.renderInBatch(of.ctx, of, mine.plan); err != nil {
					t.Errorf("render: %v", err)
				}
				for i, other := range all {
					if other.plan.Compare(mine.plan) < 0 && !isReady(other) {
						t.Errorf("w=%d of %v is not ready before a larger one", widths[i], widths)
					}
				}
			})
		}
		requests.Wait()
	})
}

func TestAResultIsSentBeforeALargerOneOfItsBatchIsMade(t *testing.T) {
	p := newPipeline(nil)
	file := photo(image.Pt(1400, 1400)) // both results are heavy
	info, err := original.Inspect(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(fairqueue.For(t.Context(), "a"))
	of := &flight{info: info, body: file, ctx: ctx}
	of.mu.Lock()
	large, _ := p.join(of, render.New(info, request.Transform{Width: 2800, Height: 2800}, false))
	small, _ := p.join(of, render.New(info, request.Transform{Width: 40}, false))
	of.mu.Unlock()
	if _, err = p.renderInBatch(ctx, of, small.plan); err != nil || isReady(large) || len(of.batches) != 1 {
		t.Errorf("%v, the large result is ready: %v, %d batches", err, isReady(large), len(of.batches))
	}
	leave()
	<-large.ready
}

func isReady(r *rendering) bool {
	select {
	case <-r.ready:
		return true
	default:
		return false
	}
}
