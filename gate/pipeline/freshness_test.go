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

// step is a request. Before it, time passes and the source may change.
type step struct {
	passes time.Duration
	// changes replaces the image. says has the headers of the source, unless it confirms silently that the image is
	// unchanged.
	changes bool
	says    original.Control
	silent  bool
	webp    bool
	// restarts replaces the process, and keeps the files.
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
			webp:     rapid.Bool().Draw(t, "WebP"), // a pixel does not become smaller as WebP
			restarts: rapid.IntRange(0, 3).Draw(t, "restarts") == 0,
		}
	}), 1, 10)
}

// filesOf opens the files of an image in a folder; none without a name. An open file keeps its inode, so that no
// other file gets it.
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

// replaced closes files, and reports whether one of them was replaced.
func replaced(files []*os.File) (found bool) {
	for _, file := range files {
		was, wasErr := file.Stat()
		is, isErr := os.Stat(file.Name())
		found = found || wasErr != nil || isErr != nil || !os.SameFile(was, is)
		file.Close()
	}
	return found
}

// toldSource is a source of one image, with the headers of each step.
type toldSource struct {
	hasETags bool
	now      step
	// shade is the color of the image; another shade is another image.
	shade uint8
	// said has the last headers, and all headers so far.
	said original.Control
	ever []original.Control
	// asked is the number of requests to the source, and at the time of the last one. confirmed is set if it
	// confirmed that the image is unchanged.
	asked     int
	at        time.Time
	confirmed bool
}

func (s *toldSource) respond(_ context.Context, r source.Request) (*source.Response, error) {
	s.asked, s.at = s.asked+1, time.Now()
	var validators original.Validators
	if s.hasETags {
		validators.ETag = fmt.Sprint(s.shade)
	}
	if s.confirmed = s.hasETags && r.Known == validators; s.confirmed {
		response := &source.Response{Unchanged: true, Validators: r.Known, Body: http.NoBody}
		if !s.now.silent && s.now.says != (original.Control{}) {
			response.Control, s.said = s.now.says, s.now.says
		}
		s.ever = append(s.ever, s.said)
		return response, nil
	}
	s.said = s.now.says
	s.ever = append(s.ever, s.said)
	return respond(pixel(s.shade), func(r *source.Response) { r.Validators, r.Control = validators, s.said })
}

// isFresh reports whether the source need not be asked.
func (s *toldSource) isFresh(revalidate time.Duration) bool {
	lifetime := revalidate
	if s.said.Bounded {
		lifetime = min(lifetime, max(s.said.MaxAge, minLifetime))
	}
	return s.asked > 0 && !s.said.NoStore && time.Since(s.at) < lifetime
}

// observed is the outcome of one request.
type observed struct {
	before   toldSource // the source before the request
	wasFresh bool
	entry    *cache.Entry
	state    State
	served   time.Time
	// rewritten is set if a file of the image was replaced.
	rewritten bool
}

// fault returns the error in a response, after the refresh in the background.
func (o observed) fault(s *toldSource) string {
	isAsked := s.asked > o.before.asked
	switch {
	case !o.wasFresh && !isAsked:
		return "the source is not asked"
	case o.state == Hit && !o.wasFresh:
		return "a hit of what is not fresh"
	case o.before.said.NoStore && o.state != Miss && (o.state != Revalidated || o.entry.Validated != o.served):
		return "an image that must not be kept is served again"
	case o.state == Revalidated && o.wasFresh:
		return "the source is asked behind a fresh image"
	case isAsked && s.confirmed && !s.said.NoStore && o.rewritten:
		return "the file of an image that has not changed is replaced"
	case o.entry.Control != s.said && (o.entry.Control != o.before.said || o.state == Miss):
		return fmt.Sprintf("the response has %+v", o.entry.Control)
	}
	return ""
}

// The last response of a source determines the caching of all results of an original, for the same or a new original,
// with a body or as a confirmation. The source is asked unless the result is fresh.
func TestWhatASourceSaysLastCountsForAllResults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		told, steps := &toldSource{hasETags: rapid.Bool().Draw(rt, "the source has ETags")}, drawSteps().Draw(rt, "steps")
		kept := cache.Options{Memory: memory / 4}
		if rapid.Bool().Draw(rt, "on disk only") {
			kept = cache.Options{Folder: t.TempDir(), Disk: 1 << 20}
		}
		o := options(told.respond)
		var failure string
		synctest.Test(t, func(t *testing.T) {
			p, restarted := newPipelineWith(o, kept), false
			defer func() { p.failures.StopAllGoroutines() }()
			for i, next := range steps {
				time.Sleep(next.passes)
				if told.now = next; next.changes {
					told.shade++
				}
				if next.restarts {
					p.failures.StopAllGoroutines()
					p, restarted = newPipelineWith(o, kept), true
				}
				seen := observed{before: *told, wasFresh: told.isFresh(o.Revalidate)}
				files := filesOf(kept.Folder, pixel(told.shade))
				var err error
				seen.entry, seen.state, err = p.Get(t.Context(), "a", request.Request{Path: "/a.png", WebP: next.webp})
				seen.served = time.Now()
				synctest.Wait() // for a refresh behind the response
				seen.rewritten = replaced(files)
				switch {
				case err != nil:
					failure = err.Error()
				case restarted && seen.state == Revalidated:
					// The files of the earlier process are valid once the source has responded.
					if last, _ := p.versions.GetIfPresent("/a.png"); told.confirmed {
						told.said = last.Control
					}
					if !slices.Contains(told.ever, told.said) {
						failure = "the source has never said this"
					}
				default:
					failure = seen.fault(told)
				}
				restarted = restarted && told.asked == seen.before.asked
				if failure != "" {
					failure = fmt.Sprintf("step %d: %s; %s, the source has said %+v", i, failure, seen.state, told.said)
					return
				}
			}
		})
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}

// Requests for results of one original at the same time, known or not, read the original once at most, and never ask the
// source twice at a time. After a restart the known results may be of different versions.
func TestRefreshesOfOneOriginalShareOneFetch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string, most int) int { return rapid.IntRange(0, most).Draw(rt, name) }
		versions := rapid.SliceOfN(rapid.Uint8Range(0, 2), 3, 3).Draw(rt, "versions of known results")
		known, now := draw("known results", 3), uint8(draw("version at the source", 2))
		age := rapid.SampledFrom([]time.Duration{time.Hour, 3 * time.Hour}).Draw(rt, "age")
		type asking struct {
			width  int
			pauses bool
		}
		asked := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) asking {
			return asking{rapid.IntRange(1, 5).Draw(rt, "width"), rapid.Bool().Draw(rt, "pauses")}
		}), 2, 6).Draw(rt, "asked")
		kept := cache.Options{Folder: t.TempDir(), Disk: 1 << 20}
		var shade uint8
		var open, most, read int
		o := options(func(_ context.Context, r source.Request) (*source.Response, error) {
			open++
			most = max(most, open)
			defer func() { open-- }()
			time.Sleep(time.Second)
			validators := original.Validators{ETag: fmt.Sprint(shade)}
			if r.Known == validators {
				return &source.Response{Unchanged: true, Validators: r.Known, Body: http.NoBody}, nil
			}
			read++
			return respond(pixel(shade), func(r *source.Response) { r.Validators = validators })
		})
		ask := func(ctx context.Context, p *Pipeline, width int) (*cache.Entry, error) {
			r := resized("/a.png", width)
			r.Transform.Fit, r.Own.Fit = request.FitMax, request.FitMax // unchanged, because it has one pixel
			entry, _, err := p.Get(ctx, "a", r)
			return entry, err
		}
		synctest.Test(t, func(t *testing.T) {
			for width := range known {
				p := newPipelineWith(o, kept) // does not know the other results
				shade = versions[width]
				if _, err := ask(t.Context(), p, width+1); err != nil {
					rt.Errorf("a new image: %v", err)
				}
				p.failures.StopAllGoroutines()
			}
			time.Sleep(age)
			shade, most, read = now, 0, 0
			p := newPipelineWith(o, kept)
			defer p.failures.StopAllGoroutines()
			for _, next := range asked {
				go func() {
					if _, err := ask(t.Context(), p, next.width); err != nil {
						rt.Errorf("%+v: %v", next, err)
					}
				}()
				if next.pauses {
					synctest.Wait()
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if most > 1 || read > 1 {
				rt.Errorf("%d requests to the source at a time, which was read %d times", most, read)
			}
			for _, next := range asked {
				if entry, err := ask(t.Context(), p, next.width); err != nil || !bytes.Equal(entry.Body, pixel(now)) {
					rt.Errorf("%+v is old: %v", next, err)
				}
			}
		})
	})
}

// When an original has been read, no results of previous originals are served, even if the source confirms them: the
// next image may have the same modification time, or an earlier one.
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
			later    int // the next image is modified this much later
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
			if known, err := strconv.Atoi(r.Known.LastModified); err == nil && modified <= known { // as in file servers
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
				r.Transform.Fit = request.FitMax // unchanged, because it has one pixel
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
