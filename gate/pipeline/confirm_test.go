package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// step is a request, before which time passes and the source may change.
type step struct {
	passes time.Duration
	// changes replaces the image by a new one, and says is what the source says of it, unless it confirms silently that it
	// is unchanged.
	changes bool
	says    original.Control
	silent  bool
	webp    bool
	// restarts lets another process follow, with the same files.
	restarts bool
}

func drawSteps() *rapid.Generator[[]step] {
	controls := []original.Control{
		{},
		{NoStore: true},
		{Bounded: true},
		{Bounded: true, MaxAge: time.Minute},
		{Bounded: true, MaxAge: 2 * time.Hour},
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			passes: rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, time.Minute, 59 * time.Minute}).
				Draw(t, "passes"),
			changes: rapid.IntRange(0, 3).Draw(t, "changes") == 0, says: rapid.SampledFrom(controls).Draw(t, "says"),
			silent:   rapid.Bool().Draw(t, "silent"),
			webp:     rapid.Bool().Draw(t, "WebP"), // a pixel is not smaller as WebP
			restarts: rapid.IntRange(0, 3).Draw(t, "restarts") == 0,
		}
	}), 1, 10)
}

// filesOf opens the files of an image in a folder; none if it has no name. While a file is open, no other one gets its
// inode.
func filesOf(folder string, image []byte) (files []*os.File) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		file, err := os.Open(filepath.Join(folder, entry.Name()))
		if err != nil {
			continue
		}
		if content, err := io.ReadAll(file); err != nil || !bytes.HasSuffix(content, image) {
			file.Close()
			continue
		}
		files = append(files, file)
	}
	return files
}

// replaced closes files, and reports whether one of them is not at its path any more.
func replaced(files []*os.File) (found bool) {
	for _, file := range files {
		was, wasErr := file.Stat()
		is, isErr := os.Stat(file.Name())
		found = found || wasErr != nil || isErr != nil || !os.SameFile(was, is)
		file.Close()
	}
	return found
}

// What a source says last is what counts for all results of an original, however it says it: with the same original or
// another one, in full or by confirming that it is unchanged. It is asked for what is not fresh.
func TestWhatASourceSaysLastCountsForAllResults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		validates, steps := rapid.Bool().Draw(rt, "the source has ETags"), drawSteps().Draw(rt, "steps")
		kept := cache.Options{Memory: memory / 4}
		if rapid.Bool().Draw(rt, "on disk only") {
			kept = cache.Options{Folder: t.TempDir(), Disk: 1 << 20}
		}
		var now step
		var said original.Control
		var ever []original.Control
		var shade uint8
		var asked int
		var unchanged, restarted bool
		var at time.Time
		o := options(func(_ context.Context, r source.Request) (*source.Response, error) {
			asked, at, unchanged = asked+1, time.Now(), false
			var validators original.Validators
			if validates {
				validators.ETag = fmt.Sprint(shade)
			}
			if validates && r.Known == validators {
				response := &source.Response{Unchanged: true, Validators: r.Known, Body: http.NoBody}
				if unchanged = true; !now.silent {
					response.Control = now.says
				}
				if response.Control != (original.Control{}) {
					said = response.Control
				}
				ever = append(ever, said)
				return response, nil
			}
			said = now.says
			ever = append(ever, said)
			return respond(pixel(shade), func(r *source.Response) { r.Validators, r.Control = validators, said })
		})
		fresh := func() bool {
			lifetime := o.Revalidate
			if said.Bounded {
				lifetime = min(lifetime, max(said.MaxAge, minLifetime))
			}
			return asked > 0 && !said.NoStore && time.Since(at) < lifetime
		}
		var failure string
		synctest.Test(t, func(t *testing.T) {
			p := newPipelineWith(o, kept)
			defer func() { p.failures.StopAllGoroutines() }()
			for i, next := range steps {
				time.Sleep(next.passes)
				if now = next; now.changes {
					shade++
				}
				if next.restarts {
					p.failures.StopAllGoroutines()
					p, restarted = newPipelineWith(o, kept), true
				}
				before, saidBefore, wasFresh := asked, said, fresh()
				files := filesOf(kept.Folder, pixel(shade))
				entry, state, err := p.Get(t.Context(), "a", request.Request{Path: "/a.png", WebP: now.webp})
				served := time.Now()
				synctest.Wait() // for a refresh behind the response
				rewritten := replaced(files)
				switch {
				case err != nil:
					failure = err.Error()
				case !wasFresh && asked == before:
					failure = "the source is not asked"
				case state == Hit && !wasFresh:
					failure = "a hit of what is not fresh"
				case state == Revalidated && restarted: // what the earlier process knew is known when the source has responded
					if last, _ := p.versions.GetIfPresent("/a.png"); unchanged {
						said = last.Control
					}
					if !slices.Contains(ever, said) {
						failure = fmt.Sprintf("the source has never said %+v", said)
					}
				case saidBefore.NoStore && state != Miss && (state != Revalidated || entry.Validated != served):
					failure = "an image that must not be kept is served again"
				case state == Revalidated && wasFresh:
					failure = "the source is asked behind a fresh image"
				case asked > before && unchanged && !said.NoStore && rewritten:
					failure = "the file of an image that has not changed is replaced"
				case entry.Control != said && (entry.Control != saidBefore || state == Miss):
					failure = fmt.Sprintf("the response has %+v", entry.Control)
				}
				restarted = restarted && asked == before
				if failure != "" {
					failure = fmt.Sprintf("step %d: %s; %s, the source has said %+v", i, failure, state, said)
					return
				}
			}
		})
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}

// Once an original has been read, no result of one that it has replaced is served, even if the source confirms that: a
// time of modification may be the same, or earlier, for the next image.
func TestAnOriginalThatWasReplacedDoesNotReturn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kept := cache.Options{Memory: memory / 4}
		if rapid.Bool().Draw(rt, "on disk only") {
			kept = cache.Options{Folder: t.TempDir(), Disk: 1 << 20}
		}
		type asking struct {
			passes   time.Duration
			restarts bool // another process follows, with the same files
			changes  bool
			later    int // by which the next image was modified later
			width    int
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) asking {
			return asking{
				passes:   rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 59 * time.Minute}).Draw(rt, "passes"),
				restarts: rapid.IntRange(0, 3).Draw(rt, "restarts") == 0, changes: rapid.Bool().Draw(rt, "changes"),
				later: rapid.IntRange(-1, 1).Draw(rt, "later"),
				width: rapid.IntRange(1, 3).Draw(rt, "width"),
			}
		}), 1, 10).Draw(rt, "steps")
		var shade, read uint8
		modified := 50
		o := options(func(_ context.Context, r source.Request) (*source.Response, error) {
			validators := original.Validators{LastModified: fmt.Sprint(modified)}
			if known, err := strconv.Atoi(r.Known.LastModified); err == nil && modified <= known { // as file servers decide
				return &source.Response{Unchanged: true, Validators: r.Known, Body: http.NoBody}, nil
			}
			read = shade
			return respond(pixel(shade), func(r *source.Response) { r.Validators = validators })
		})
		var failure string
		synctest.Test(t, func(t *testing.T) {
			p := newPipelineWith(o, kept)
			defer func() { p.failures.StopAllGoroutines() }()
			for i, next := range steps {
				time.Sleep(next.passes)
				if next.changes {
					shade, modified = shade+1, modified+next.later
				}
				if next.restarts {
					p.failures.StopAllGoroutines()
					p, read = newPipelineWith(o, kept), 0
				}
				last, r := read, resized("/a.png", next.width)
				r.Transform.Fit = request.FitMax // as it is, because it has one pixel
				entry, state, err := p.Get(t.Context(), "a", r)
				if err != nil {
					failure = err.Error()
					return
				}
				for former := range last {
					if bytes.Equal(entry.Body, pixel(former)) {
						failure = fmt.Sprintf("step %d: %s of image %d after %d was read", i, state, former, last)
						return
					}
				}
				synctest.Wait() // for a refresh behind the response
			}
		})
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}
