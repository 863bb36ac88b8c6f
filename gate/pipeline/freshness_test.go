package pipeline

import (
	"bytes"
	"context"
	"fmt"
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

// process is a gate that can be restarted. Its files are kept.
type process struct {
	*Pipeline
	from opening
	kept cache.Options
}

func (p *process) start() { p.Pipeline = newPipelineWith(options(p.from), p.kept) }

func (p *process) stop() { p.failures.StopAllGoroutines() }

func (p *process) restart() {
	p.stop()
	p.start()
}

// get returns the original, or a result with a width. All of them equal the original, which has only one pixel.
func (p *process) get(ctx context.Context, width int, webp bool) (*cache.Entry, State, error) {
	r := resized("/a.png", width)
	if r.WebP = webp; width > 0 {
		r.Transform.Fit, r.Own.Fit = request.FitMax, request.FitMax
	}
	return p.Get(ctx, "a", r)
}

func onDisk(t *testing.T) cache.Options { return cache.Options{Folder: t.TempDir(), Disk: 1 << 20} }

func drawCache(t *testing.T, rt *rapid.T) cache.Options {
	if rapid.Bool().Draw(rt, "on disk only") {
		return onDisk(t)
	}
	return cache.Options{Memory: memory / 4}
}

// turn is a request, and the events before it.
type turn struct {
	passes   time.Duration
	changes  bool // the source has another image, which was modified this much later
	later    int
	restarts bool // another process follows and uses the same files
	says     original.Control
	silent   bool
	webp     bool
	width    int
}

func drawTurns(rt *rapid.T) []turn {
	oneInFour := func(rt *rapid.T, what string) bool { return rapid.IntRange(0, 3).Draw(rt, what) == 0 }
	pauses := []time.Duration{time.Millisecond, time.Second, time.Minute, 59 * time.Minute}
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) turn {
		return turn{
			passes:  rapid.SampledFrom(pauses).Draw(rt, "passes"),
			changes: oneInFour(rt, "changes"), later: rapid.IntRange(-1, 1).Draw(rt, "later"),
			restarts: oneInFour(rt, "restarts"),
			says:     rapid.SampledFrom(headers).Draw(rt, "says"), silent: rapid.Bool().Draw(rt, "silent"),
			webp:  rapid.Bool().Draw(rt, "WebP"), // a pixel does not become smaller as WebP
			width: rapid.IntRange(1, 3).Draw(rt, "width"),
		}
	}), 1, 10).Draw(rt, "turns")
}

// headers are the caching rules that a source may send.
var headers = []original.Control{
	{},
	{NoStore: true},
	{Bounded: true},
	{Bounded: true, MaxAge: time.Minute},
	{Bounded: true, MaxAge: 2 * time.Hour},
}

// toldSource serves one image, and sends the headers that the test sets.
type toldSource struct {
	hasETags bool
	// shade is the color of the image; a different shade means a different image.
	shade uint8
	// says contains the headers of the next response, unless it is silent: then the image is confirmed without headers.
	says   original.Control
	silent bool

	// said contains the last headers, and ever all headers so far.
	said original.Control
	ever []original.Control
	// asked is the number of requests, and at the time of the last request. confirmed is set if the last response
	// confirmed the image.
	asked     int
	at        time.Time
	confirmed bool
	// forgotten is set if the gate was restarted after the last request.
	forgotten bool
}

func (s *toldSource) respond(_ context.Context, r source.Request) (*source.Response, error) {
	s.asked, s.at, s.forgotten = s.asked+1, time.Now(), false
	defer func() { s.ever = append(s.ever, s.said) }()
	var validators original.Validators
	if s.hasETags {
		validators.ETag = fmt.Sprint(s.shade)
	}
	if s.confirmed = s.hasETags && r.Known == validators; s.confirmed {
		response := &source.Response{Unchanged: true, Validators: r.Known, Body: http.NoBody}
		if !s.silent && s.says != (original.Control{}) {
			response.Control, s.said = s.says, s.says
		}
		return response, nil
	}
	s.said = s.says
	return respond(pixel(s.shade), func(r *source.Response) { r.Validators, r.Control = validators, s.said })
}

// isFresh reports whether the gate may serve the image without a request to the source.
func (s *toldSource) isFresh(revalidate time.Duration) bool {
	lifetime := revalidate
	if s.said.Bounded {
		lifetime = min(lifetime, max(s.said.MaxAge, minLifetime))
	}
	return s.asked > 0 && !s.forgotten && !s.said.NoStore && time.Since(s.at) < lifetime
}

// fault describes what is wrong with a response. before is the source before the request; the receiver is the source
// after the refresh in the background.
func (s *toldSource) fault(before toldSource, wasFresh bool, entry *cache.Entry, state State, at time.Time) string {
	isAsked := s.asked > before.asked
	isOld := state != Miss && !(state == Revalidated && entry.Validated.Equal(at))
	switch {
	case !wasFresh && !isAsked:
		return "the source is not asked"
	case wasFresh && state == Revalidated:
		return "a request to the source behind a fresh image"
	case !wasFresh && state == Hit:
		return "an outdated image is a hit"
	case before.forgotten && state == Revalidated: // a file of the earlier process, which may have any headers
		if !slices.Contains(s.ever, entry.Control) {
			return "the source has never sent these headers"
		}
	case before.said.NoStore && isOld:
		return "an image that must not be kept is served again"
	case entry.Control != s.said && (entry.Control != before.said || state == Miss):
		return "these headers are not the last ones of the source"
	}
	return ""
}

// The last response of a source determines how all results of an original are cached, whether or not the original has
// changed, and whether the response has a body or is a 304. The gate sends a request to the source unless the result is fresh.
func TestWhatASourceSaysLastCountsForAllResults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		told := &toldSource{hasETags: rapid.Bool().Draw(rt, "the source has ETags")}
		gate := &process{from: told.respond, kept: drawCache(t, rt)}
		turns := drawTurns(rt)
		synctest.Test(t, func(t *testing.T) {
			gate.start()
			defer func() { gate.stop() }()
			for i, next := range turns {
				time.Sleep(next.passes)
				if told.says, told.silent = next.says, next.silent; next.changes {
					told.shade++
				}
				if next.restarts {
					gate.restart()
					told.forgotten = true
				}
				before, wasFresh := *told, told.isFresh(gate.Revalidate)
				entry, state, err := gate.get(t.Context(), 0, next.webp)
				at := time.Now()
				synctest.Wait() // for a refresh behind the response
				if err != nil {
					rt.Errorf("turn %d: %v", i, err)
					return
				}
				if fault := told.fault(before, wasFresh, entry, state, at); fault != "" {
					rt.Errorf("turn %d: %s: %s with %+v, the source has said %+v", i, fault, state, entry.Control, told.said)
					return
				}
				if before.forgotten && state == Revalidated && told.confirmed && (told.silent || told.says == original.Control{}) {
					told.said = entry.Control // a silent confirmation is about the file
				}
			}
		})
	})
}

// A source that confirms an image may change its headers. The file of the image is not rewritten, because there may be
// millions of files. It is removed if the image must no longer be stored.
func TestTheFileOfAConfirmedImageStaysUnlessItMustNotBeKept(t *testing.T) {
	for _, first := range []original.Control{{}, {Bounded: true, MaxAge: 2 * time.Hour}} {
		for _, then := range headers {
			told := &toldSource{hasETags: true, says: first}
			gate := &process{from: told.respond, kept: onDisk(t)}
			files := func(t *testing.T) []os.FileInfo {
				if _, _, err := gate.get(t.Context(), 0, false); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // for the file, and a refresh behind the response
				return openFiles(t, gate.kept.Folder)
			}
			synctest.Test(t, func(t *testing.T) {
				gate.start()
				defer gate.stop()
				before := files(t)
				told.says = then
				time.Sleep(gate.Revalidate)
				after := files(t)
				isKept := len(before) == 1 && len(after) == 1 && os.SameFile(before[0], after[0])
				if !told.confirmed || isKept == then.NoStore || then.NoStore && len(after) > 0 {
					t.Errorf("%+v, then %+v: %d files, then %d; kept: %t", first, then, len(before), len(after), isKept)
				}
			})
		}
	}
}

// openFiles returns the files in a folder. They stay open until the end of the test, so that no other file gets their
// inodes.
func openFiles(t *testing.T, folder string) (files []os.FileInfo) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(folder, "*"))
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, info)
	}
	return files
}

// slowSource takes a second for each response, and confirms its image by an ETag.
type slowSource struct {
	shade uint8
	// open is the current number of requests, most its maximum, and read the number of responses with an image.
	open, most, read int
}

func (s *slowSource) respond(_ context.Context, r source.Request) (*source.Response, error) {
	s.open++
	s.most = max(s.most, s.open)
	defer func() { s.open-- }()
	time.Sleep(time.Second)
	validators := original.Validators{ETag: fmt.Sprint(s.shade)}
	if r.Known == validators {
		return &source.Response{Unchanged: true, Validators: r.Known, Body: http.NoBody}, nil
	}
	s.read++
	return respond(pixel(s.shade), func(r *source.Response) { r.Validators = validators })
}

// Concurrent requests for results of one original, known or not, read the original at most once, and never send two
// requests to the source at the same time. After a restart the known results may be of different versions.
func TestRefreshesOfOneOriginalShareOneFetch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		slow := &slowSource{}
		gate := &process{from: slow.respond, kept: onDisk(t)}
		known := rapid.SliceOfN(rapid.Uint8Range(0, 2), 0, 3).Draw(rt, "versions of known results")
		age := rapid.SampledFrom([]time.Duration{time.Hour, 3 * time.Hour}).Draw(rt, "age")
		now := rapid.Uint8Range(0, 2).Draw(rt, "version at the source")
		widths := rapid.SliceOfN(rapid.IntRange(0, 4), 2, 6).Draw(rt, "widths")
		pauses := rapid.SliceOfN(rapid.Bool(), len(widths), len(widths)).Draw(rt, "pauses")
		synctest.Test(t, func(t *testing.T) {
			for width, version := range known {
				gate.start() // a process that knows no other results
				slow.shade = version
				if _, _, err := gate.get(t.Context(), width, false); err != nil {
					rt.Errorf("width %d, first: %v", width, err)
				}
				gate.stop()
			}
			time.Sleep(age)
			*slow = slowSource{shade: now}
			gate.start()
			defer gate.stop()
			for i, width := range widths {
				go func() {
					if _, _, err := gate.get(t.Context(), width, false); err != nil {
						rt.Errorf("width %d: %v", width, err)
					}
				}()
				if pauses[i] {
					synctest.Wait()
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if slow.most > 1 || slow.read > 1 {
				rt.Errorf("%d requests to the source at a time, which was read %d times; want one", slow.most, slow.read)
			}
			for _, width := range widths {
				if entry, _, err := gate.get(t.Context(), width, false); err != nil || !bytes.Equal(entry.Body, pixel(now)) {
					rt.Errorf("width %d is old (%v)", width, err)
				}
			}
		})
	})
}

// fileServer serves one image. Like file servers, it confirms a known image unless its own image was modified later.
type fileServer struct {
	shade    uint8
	modified int
	// read is the last image that the gate has read since its start.
	read uint8
}

func (s *fileServer) respond(_ context.Context, r source.Request) (*source.Response, error) {
	if known, err := strconv.Atoi(r.Known.LastModified); err == nil && s.modified <= known {
		return &source.Response{Unchanged: true, Validators: r.Known, Body: http.NoBody}, nil
	}
	s.read = s.shade
	validators := original.Validators{LastModified: fmt.Sprint(s.modified)}
	return respond(pixel(s.shade), func(r *source.Response) { r.Validators = validators })
}

// After an original has been read, no results of previous originals are served, even if the source confirms them: the
// next image may have the same modification time or an earlier one.
func TestAnOriginalThatWasReplacedDoesNotReturn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		server := &fileServer{modified: 50}
		gate := &process{from: server.respond, kept: drawCache(t, rt)}
		turns := drawTurns(rt)
		synctest.Test(t, func(t *testing.T) {
			gate.start()
			defer func() { gate.stop() }()
			for i, next := range turns {
				time.Sleep(next.passes)
				if next.changes {
					server.shade, server.modified = server.shade+1, server.modified+next.later
				}
				if next.restarts {
					gate.restart()
					server.read = 0
				}
				last := server.read
				entry, state, err := gate.get(t.Context(), next.width, false)
				if err != nil {
					rt.Errorf("turn %d: %v", i, err)
					return
				}
				for previous := range last {
					if bytes.Equal(entry.Body, pixel(previous)) {
						rt.Errorf("turn %d: %s of image %d after %d was read", i, state, previous, last)
						return
					}
				}
				synctest.Wait() // for a refresh behind the response
			}
		})
	})
}
