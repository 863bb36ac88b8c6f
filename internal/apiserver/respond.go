package apiserver

import (
	"errors"
	"net/http"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Media types of bodies.
const (
	typeJSON       = "application/json"
	typeMergePatch = "application/merge-patch+json"
)

// output is a response that is a body in JSON.
type output[T any] struct {
	Body T
}

// reply answers with a body that is ready.
func reply(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	// An error means that the client is gone.
	_, _ = w.Write(body)
}

// acceptsGzip reports whether the client reads responses in gzip.
func acceptsGzip(r *http.Request) bool {
	return httpguts.HeaderValuesContainsToken(r.Header.Values("Accept-Encoding"), "gzip")
}

// errTooSlow is the reason why a response ends whose client does not read it.
var errTooSlow = errors.New("the client is too slow")

// writeTimeout is how long a client may take to receive one piece of a response.
const writeTimeout = 10 * time.Second

// streamed writes a response that stays open: each piece is sent at once, within a time limit of
// its own.
type streamed struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func newStreamed(w http.ResponseWriter) streamed {
	return streamed{w: w, control: http.NewResponseController(w)}
}

// open sends the headers.
func (p streamed) open(contentType string) error {
	header := p.w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-store")
	// Proxies such as nginx would keep pieces back until they have some kilobytes.
	header.Set("X-Accel-Buffering", "no")
	if err := p.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	p.w.WriteHeader(http.StatusOK)
	return p.control.Flush()
}

// Write implements io.Writer.
func (p streamed) Write(piece []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := p.w.Write(piece)
	if err == nil {
		err = p.control.Flush()
	}
	if err != nil {
		return n, errors.Join(errTooSlow, err)
	}
	return n, nil
}
