package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// streamsEach is the maximum number of open streams per user.
	streamsEach = 16
	// lastWait is the time after which a missing change counts as lost.
	lastWait = 30 * time.Second
)

// watch records when each stream receives each change.
type watch struct {
	// seen records for each stream and change whether it was received.
	seen [][]atomic.Bool
	// arrived is the number of changes received by all streams.
	arrived atomic.Int64
	broken  atomic.Int64

	mu   sync.Mutex
	took []time.Duration
	// made is the number of changes.
	made int
}

func newWatch(streams, changes int) *watch {
	w := &watch{seen: make([][]atomic.Bool, streams)}
	for i := range w.seen {
		w.seen[i] = make([]atomic.Bool, changes)
	}
	return w
}

// open opens the streams and waits until each has received all Darkrooms.
func (w *watch) open(ctx context.Context, url string, tokens []string, darkrooms int) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	end = func() {
		cancel()
		reading.Wait()
	}
	var opening errgroup.Group
	opening.SetLimit(16)
	for i := range w.seen {
		opening.Go(func() error {
			synced := make(chan error, 1)
			reading.Go(func() { w.read(ctx, i, url, tokens[i/streamsEach], darkrooms, synced) })
			return <-synced
		})
	}
	if err := opening.Wait(); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// read reads one stream until the context ends.
func (w *watch) read(ctx context.Context, stream int, url, token string, darkrooms int, synced chan<- error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events/stream", nil)
	if err != nil {
		synced <- err
		return
	}
	request.Header.Set("Authorization", "Bearer "+token)
	// Each stream has its own connection, as with browsers.
	answer, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
	if err != nil {
		synced <- err
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		synced <- fmt.Errorf("stream: got status %d", answer.StatusCode)
		return
	}
	complete := fmt.Sprintf(`data: {"items":%d,`, darkrooms)
	lines := bufio.NewReaderSize(answer.Body, 16<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if ctx.Err() == nil {
				w.broken.Add(1)
			}
			select {
			case synced <- fmt.Errorf("stream broke: %w", err):
			default:
			}
			return
		}
		if bytes.HasPrefix(line, []byte(complete)) {
			synced <- nil
		}
		w.note(stream, line, time.Now())
	}
}

var mark = []byte(`"` + sentAnnotation + `":"`)

// note records a line if it is a change.
func (w *watch) note(stream int, line []byte, now time.Time) {
	at := bytes.Index(line, mark)
	if at < 0 {
		return
	}
	text, _, _ := bytes.Cut(line[at+len(mark):], []byte(`"`))
	first, second, _ := strings.Cut(string(text), " ")
	number, err := strconv.Atoi(first)
	sent, err2 := strconv.ParseInt(second, 10, 64)
	if err != nil || err2 != nil || w.seen[stream][number].Swap(true) {
		return
	}
	w.mu.Lock()
	w.took = append(w.took, now.Sub(time.Unix(0, sent)))
	w.mu.Unlock()
	w.arrived.Add(1)
}

// await waits until each stream has received all changes, or a timeout.
func (w *watch) await(ctx context.Context) error {
	for deadline := time.Now().Add(lastWait); time.Now().Before(deadline) && w.lost() > 0; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// latencies returns the sorted times since its last call.
func (w *watch) latencies() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.took
	w.took = nil
	slices.Sort(out)
	return out
}

// lost returns the number of changes that streams have not received.
func (w *watch) lost() int64 { return int64(w.made*len(w.seen)) - w.arrived.Load() }
