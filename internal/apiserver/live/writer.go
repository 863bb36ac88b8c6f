package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
)

// retryAfter is the delay before clients reconnect.
const retryAfter = 2 * time.Second

// collected is the number of bytes that are sent together, which is the window of the compressor.
const collected = 32 << 10

// writer writes server-sent events, compressed if the client accepts gzip. The list of a thousand Darkrooms shrinks to
// a seventh. The compressor is stateless, so it takes no memory for idle streams. middleware/compress.go explains why
// compression discloses nothing.
type writer struct {
	reply.Pieces
	// packer writes to packed; nil for a client that does not accept gzip.
	packer *gzip.Writer
	packed bytes.Buffer
	// waiting are the events to send together; nil while each event is sent at once.
	waiting *bytes.Buffer
}

func newWriter(w http.ResponseWriter, packed bool) *writer {
	o := &writer{Pieces: reply.NewPieces(w)}
	w.Header().Add("Vary", "Accept-Encoding")
	if packed {
		w.Header().Set("Content-Encoding", "gzip")
		o.packer, _ = gzip.NewWriterLevel(&o.packed, gzip.StatelessCompression) // the level is valid
	}
	return o
}

func (o *writer) open() error {
	if err := o.Open(reply.TypeEvents); err != nil {
		return err
	}
	return o.write(fmt.Sprintf("retry: %d\n\n", retryAfter.Milliseconds()))
}

// collect buffers events until release.
func (o *writer) collect() { o.waiting = &bytes.Buffer{} }

func (o *writer) release() error {
	piece := o.waiting.Bytes()
	o.waiting = nil
	return o.send(piece)
}

func (o *writer) event(kind string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	return o.write(fmt.Sprintf("event: %s\ndata: %s\n\n", kind, raw))
}

func (o *writer) write(text string) error {
	if o.waiting == nil {
		return o.send([]byte(text))
	}
	o.waiting.WriteString(text)
	if o.waiting.Len() < collected {
		return nil
	}
	defer o.waiting.Reset()
	return o.send(o.waiting.Bytes())
}

func (o *writer) send(piece []byte) error {
	if o.packer != nil {
		defer func() { o.packed = bytes.Buffer{} }()
		if _, err := o.packer.Write(piece); err != nil {
			return fmt.Errorf("compress events: %w", err)
		}
		piece = o.packed.Bytes()
	}
	_, err := o.Write(piece)
	return err
}
