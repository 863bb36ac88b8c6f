// Package faults injects faults between a Kubernetes API server and its clients.
package faults

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Faults of the API server, as seen by a client. All except the last two affect every second request that is not a
// watch.
const (
	Conflicts  = "409"
	Throttles  = "429"
	Fails      = "500"
	IsDown     = "503"
	Loses      = "writes are performed and their responses lost"
	Hangs      = "requests hang"
	Slows      = "requests take a second"
	SpeaksHTML = "responses are HTML"
	Lags       = "watches lag"
	Breaks     = "watches break"
)

// All are the faults.
func All() []string {
	return []string{Conflicts, Throttles, Fails, IsDown, Loses, Hangs, Slows, SpeaksHTML, Lags, Breaks}
}

// slowness is the delay of slow requests.
const slowness = time.Second

// lag is the delay of events in slow watches, and the lifetime of watches that break.
const lag = 500 * time.Millisecond

// Faults injects one fault at a time. The zero value injects none.
type Faults struct {
	mu    sync.Mutex
	kind  string
	ended chan struct{}
	// turn counts requests, because every second request fails.
	turn int
	// watches are the open watches.
	watches map[*watch]bool
}

// Begin starts a fault and ends the current one.
func (f *Faults) Begin(kind string) {
	f.End()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kind, f.ended = kind, make(chan struct{})
	for w := range f.watches {
		if kind == Breaks {
			_ = w.ReadCloser.Close()
		}
	}
}

// End ends the fault and reports whether there was one.
func (f *Faults) End() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kind == "" {
		return false
	}
	close(f.ended)
	f.kind = ""
	return true
}

// Current returns the current fault; empty if there is none.
func (f *Faults) Current() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kind
}

// next returns the fault for a request; none for every second request.
func (f *Faults) next() (string, chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kind == "" || f.kind == Lags || f.kind == Breaks {
		return "", nil
	}
	if f.turn++; f.turn%2 == 0 {
		return "", nil
	}
	return f.kind, f.ended
}

// ErrLost is the error of a request whose response is lost.
var ErrLost = errors.New("the connection was closed")

// RoundTripper is a function that sends requests.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Inject returns a transport that injects the faults.
func (f *Faults) Inject(next http.RoundTripper) http.RoundTripper {
	return RoundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("watch") != "" {
			return f.watch(next, r)
		}
		kind, ended := f.next()
		switch kind {
		case "":
			return next.RoundTrip(r)
		case Loses:
			response, err := next.RoundTrip(r)
			if err == nil && r.Method != http.MethodGet {
				_ = response.Body.Close()
				return nil, ErrLost
			}
			return response, err
		case Hangs:
			select {
			case <-ended:
			case <-r.Context().Done():
			}
			return nil, ErrLost
		case Slows:
			select {
			case <-time.After(slowness):
			case <-ended:
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
			return next.RoundTrip(r)
		case SpeaksHTML:
			return answer(r, http.StatusOK, "text/html", "<html>Sign in</html>"), nil
		}
		status, _ := strconv.Atoi(kind)
		return answer(r, status, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","code":`+
			kind+reasons[kind]+`}`), nil
	})
}

// reasons are additional fields of error responses, by fault.
var reasons = map[string]string{Conflicts: `,"reason":"Conflict","message":"it was changed"`}

func answer(r *http.Request, status int, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader([]byte(body))),
		ContentLength: int64(len(body)),
	}
}

// watch is the response body of a watch.
type watch struct {
	io.ReadCloser

	faults *Faults
}

func (f *Faults) watch(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	response, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	w := &watch{ReadCloser: response.Body, faults: f}
	response.Body = w
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watches == nil {
		f.watches = map[*watch]bool{}
	}
	f.watches[w] = true
	if f.kind == Breaks {
		time.AfterFunc(lag, func() { _ = w.ReadCloser.Close() })
	}
	return response, nil
}

func (w *watch) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if w.faults.Current() == Lags {
		time.Sleep(lag)
	}
	return n, err
}

func (w *watch) Close() error {
	w.faults.mu.Lock()
	delete(w.faults.watches, w)
	w.faults.mu.Unlock()
	return w.ReadCloser.Close()
}
