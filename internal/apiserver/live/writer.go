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

// retryAfter is what clients are told to wait before they come back.
const retryAfter = 2 * time.Second

// collected is how many bytes of events are sent together: as many as the compressor looks back.
const collected = 32 << 10

// writer writes server-sent events, compressed if the client accepts that: the list of a thousand Darkrooms
// shrinks to a seventh or less. What the compressor knows is forgotten after each piece, so that an open stream
// takes no memory for it; see middleware.Compress for why that discloses nothing.
type writer struct {
	reply.Pieces
	// packer writes to packed; nil for a client that does not accept gzip.
	packer *gzip.Writer
	packed bytes.Buffer
	// waiting are events that are sent together; nil while each is sent at once.
	waiting *bytes.Buffer
}

func newWriter(w http.ResponseWriter, packed bool) *writer {
	o := &writer{Pieces: reply.NewPieces(w)}
	w.Header().Add("Vary", "Accept-Encoding")
	if packed {
		w.Header().Set("Content-Encoding", "gzip")
		o.packer, _ = gzip.NewWriterLevel(&o.packed, gzip.StatelessCompression) // an error would be of the level
	}
	return o
}

func (o *writer) open() error {
	if err := o.Open(reply.TypeEvents); err != nil {
		return err
	}
	return o.write(fmt.Sprintf("retry: %d\n\n", retryAfter.Milliseconds()))
}

// collect has events wait for each other until release.
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
