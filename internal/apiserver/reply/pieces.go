package reply

import (
	"errors"
	"net/http"
	"time"
)

// ErrTooSlow is the reason why a response ends whose client does not read it.
var ErrTooSlow = errors.New("the client is too slow")

// writeTimeout is how long a client may take to receive one piece of a response.
const writeTimeout = 10 * time.Second

// Pieces writes a response that stays open: each piece is sent at once, within a time limit of
// its own.
type Pieces struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewPieces returns a response that is not opened yet.
func NewPieces(w http.ResponseWriter) Pieces {
	return Pieces{w: w, control: http.NewResponseController(w)}
}

// Open sends the headers.
func (p Pieces) Open(contentType string) error {
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
func (p Pieces) Write(piece []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := p.w.Write(piece)
	if err == nil {
		err = p.control.Flush()
	}
	if err != nil {
		return n, errors.Join(ErrTooSlow, err)
	}
	return n, nil
}
