package reply

import (
	"errors"
	"net/http"
	"time"
)

// ErrTooSlow means that the client did not read the response in time.
var ErrTooSlow = errors.New("the client is too slow")

// writeTimeout is the time limit for a client to receive one piece.
const writeTimeout = 10 * time.Second

// Pieces writes a response that stays open. Each piece is flushed, and has its own deadline.
type Pieces struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewPieces returns a response whose headers have not been sent.
func NewPieces(w http.ResponseWriter) Pieces {
	return Pieces{w: w, control: http.NewResponseController(w)}
}

// Open sends the headers.
func (p Pieces) Open(contentType string) error {
	header := p.w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-store")
	// Otherwise, nginx and other proxies buffer responses.
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
