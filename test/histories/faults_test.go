package histories

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Faults of the API server, as an operator sees them.
const (
	conflicts  = "409"
	throttles  = "429"
	fails      = "500"
	isDown     = "503"
	loses      = "writes are done and their answers lost"
	hangs      = "requests hang"
	speaksHTML = "answers are HTML"
	lags       = "watches lag"
)

var allFaults = []string{conflicts, throttles, fails, isDown, loses, hangs, speaksHTML, lags}

// lag is how much later events arrive while watches lag.
const lag = 500 * time.Millisecond

// faults stand between the operators and the API server.
type faults struct {
	mu    sync.Mutex
	kind  string
	ended chan struct{}
	// turn counts requests: every other one fails.
	turn int
}

func (f *faults) begin(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kind, f.ended = kind, make(chan struct{})
}

func (f *faults) end() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kind == "" {
		return false
	}
	close(f.ended)
	f.kind = ""
	return true
}

func (f *faults) current() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kind
}

// next returns the fault that a request meets; none for every other request.
func (f *faults) next() (string, chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kind == "" || f.kind == lags {
		return "", nil
	}
	if f.turn++; f.turn%2 == 0 {
		return "", nil
	}
	return f.kind, f.ended
}

// errLost ends a request whose answer is lost.
var errLost = errors.New("the connection was closed")

func (f *faults) inject(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if isWatch(r) {
			response, err := next.RoundTrip(r)
			if err == nil {
				response.Body = &lagging{ReadCloser: response.Body, faults: f}
			}
			return response, err
		}
		kind, ended := f.next()
		switch kind {
		case "":
			return next.RoundTrip(r)
		case loses:
			response, err := next.RoundTrip(r)
			if err == nil && r.Method != http.MethodGet {
				response.Body.Close()
				return nil, errLost
			}
			return response, err
		case hangs:
			select {
			case <-ended:
			case <-r.Context().Done():
			}
			return nil, errLost
		case speaksHTML:
			return answer(r, http.StatusOK, "text/html", "<html>Sign in</html>"), nil
		}
		status, _ := strconv.Atoi(kind)
		return answer(r, status, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","code":`+kind+reasons[kind]+`}`), nil
	})
}

// reasons are the rest of the answers that have one.
var reasons = map[string]string{conflicts: `,"reason":"Conflict","message":"it was changed"`}

func answer(r *http.Request, status int, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)),
	}
}

// lagging is the body of a watch.
type lagging struct {
	io.ReadCloser
	faults *faults
}

func (l *lagging) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.faults.current() == lags {
		time.Sleep(lag)
	}
	return n, err
}
