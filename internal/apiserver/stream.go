package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/journal"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

const (
	// beatTimeout bounds the reviews of a heartbeat.
	beatTimeout = 10 * time.Second
	// retryAfter is what clients are told to wait before they come back.
	retryAfter = 2 * time.Second
	// maxStreams is how many streams one caller may have open.
	maxStreams = 16
)

type streamInput struct {
	Namespace   string `query:"namespace" maxLength:"63" doc:"Only Darkrooms of this namespace; none means all namespaces that you may watch"`
	LastEventID string `header:"Last-Event-ID" doc:"id of the last event received: what came after it follows. Browsers send it by themselves"`
}

// stream sends live events. Each stream begins with the changes that the client has
// missed or, if that is not known, with all there is: an event reset, an event added
// for each Darkroom, and an event synced.
func (s *Server) stream(ctx context.Context, in *streamInput) (*reply.Raw, error) {
	scope, err := s.newScope(ctx, "watch", in.Namespace)
	if err != nil {
		return nil, err
	}
	scope.access = scope.access.Patient()
	leave, err := s.enterStream(ctx, scope)
	if err != nil {
		return nil, err
	}
	return reply.Written(func(w http.ResponseWriter, r *http.Request) {
		defer leave()
		out := newStreamWriter(w, reply.AcceptsGzip(r))
		reader := &streamReader{server: s, scope: scope, out: out}
		s.metrics.streams.Inc()
		defer s.metrics.streams.Dec()
		reason := reader.run(ctx, in.LastEventID)
		s.log.V(1).Info("Stream ended", "user", auth.CallerOf(ctx).Name(), "reason", fmt.Sprint(reason))
	}), nil
}

// enterStream takes a place for a stream. Callers who may see no Darkroom have few places, and none
// of those of others.
func (s *Server) enterStream(ctx context.Context, scope *scope) (leave func(), err error) {
	places := s.streams
	if sees, err := s.seesAny(ctx, scope); err != nil {
		return nil, err
	} else if !sees {
		places = s.strangers
	}
	leave, err = places.Enter(ctx, auth.CallerOf(ctx).Name())
	var full *limit.Full
	if !errors.As(err, &full) {
		return leave, err
	}
	switch full.Whose {
	case limit.OfCaller:
		return nil, problem.TooManyRequests(fmt.Sprintf("too many streams are open; each caller may have %d", maxStreams), 10)
	case limit.OfNamespace:
		return nil, problem.TooManyRequests("the ServiceAccounts of your namespace have too many streams open", 10)
	default:
		return nil, problem.Unavailable("the server has as many streams open as it can; try again later")
	}
}

// maxSightings bounds the access reviews before a stream is opened.
const maxSightings = 20

// seesAny reports whether a caller may see Darkrooms: of the requested namespace, of all, or of one
// of some that have any.
func (s *Server) seesAny(ctx context.Context, scope *scope) (bool, error) {
	if scope.only != "" || scope.all {
		return true, nil
	}
	darkrooms, _ := s.journal.All()
	for _, darkroom := range darkrooms {
		if len(scope.known) >= maxSightings && !scope.knows(darkroom.Namespace) {
			break
		}
		if sees, err := scope.has(ctx, darkroom.Namespace); sees || err != nil {
			return sees, err
		}
	}
	return false, nil
}

// The reasons why the server ends a stream. The client reconnects and resumes.
var (
	errShutdown    = errors.New("the server stops")
	errClientGone  = errors.New("the client is gone")
	errNoLongerMay = errors.New("the caller is no longer known, or no longer allowed")
)

// streamReader reads the journal for one client.
type streamReader struct {
	server   *Server
	scope    *scope
	out      *streamWriter
	position uint64
}

// run sends events until there is a reason to end.
func (r *streamReader) run(ctx context.Context, lastEventID string) error {
	if err := r.out.open(); err != nil {
		return err
	}
	if !r.resume(lastEventID) {
		if err := r.everything(ctx); err != nil {
			return err
		}
	}
	heartbeat := time.NewTicker(r.server.options.Heartbeat)
	defer heartbeat.Stop()
	for {
		changes, next, more, ok := r.server.journal.After(r.position)
		if !ok {
			return reply.ErrTooSlow
		}
		for i, change := range changes {
			if err := r.send(ctx, change, r.position+uint64(i)+1); err != nil {
				return err
			}
		}
		r.position = next
		select {
		case <-more:
		case <-heartbeat.C:
			if err := r.beat(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return errClientGone
		case <-r.server.stopping:
			return errShutdown
		}
	}
}

// resume continues where the client was. It reports false if that is unknown or too long ago,
// and if the caller may now watch other namespaces or only some: the journal has no changes of
// rights, so that what has become visible was never sent, and what no longer is must go.
func (r *streamReader) resume(lastEventID string) bool {
	id, extent, _ := strings.Cut(lastEventID, "/")
	position, ok := r.server.journal.Position(id)
	if !ok || extent != r.scope.extent() || extent == someNamespaces {
		return false
	}
	r.position = position
	_, _, _, kept := r.server.journal.After(position)
	return kept
}

// id is the id of an event: a position in the journal, and the namespaces that the caller may
// watch.
func (r *streamReader) id(position uint64) string {
	return r.server.journal.ID(position) + "/" + r.scope.extent()
}

// everything sends all Darkrooms in the scope. Only the last event has an id: who
// loses the connection before it gets all of them again.
func (r *streamReader) everything(ctx context.Context) error {
	darkrooms, position := r.server.journal.All()
	r.out.collect()
	if err := r.out.event("reset", "", struct{}{}); err != nil {
		return err
	}
	sent := 0
	for _, darkroom := range darkrooms {
		visible, err := r.scope.has(ctx, darkroom.Namespace)
		if err != nil {
			return err
		}
		if !visible {
			continue
		}
		sent++
		if err := r.out.event(journal.Added, "", wire.Flatten(darkroom)); err != nil {
			return err
		}
	}
	r.position = position
	if err := r.out.event("synced", r.id(position), Synced{Items: sent, All: r.scope.all}); err != nil {
		return err
	}
	return r.out.release()
}

// send sends one change, if it is in the scope. The id is the position after it.
func (r *streamReader) send(ctx context.Context, c journal.Change, after uint64) error {
	visible, err := r.scope.has(ctx, c.Darkroom.Namespace)
	if err != nil || !visible {
		return err
	}
	return r.out.event(c.Kind, r.id(after), wire.Flatten(c.Darkroom))
}

// beat authenticates and authorizes the caller again, and sends a heartbeat. If the
// caller's rights have changed, it sends everything again.
func (r *streamReader) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	if err := r.server.auth.StillKnown(ctx); err != nil {
		return fmt.Errorf("%w: %w", errNoLongerMay, err)
	}
	different, err := r.scope.refresh(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoLongerMay, err)
	}
	if different {
		return r.everything(ctx)
	}
	return r.out.write(": heartbeat\n\n")
}

// Synced reports that the client has the complete list.
type Synced struct {
	Items int  `json:"items" doc:"How many Darkrooms there are"`
	All   bool `json:"all" doc:"Whether the caller may watch all namespaces: else there may be more"`
}

// collected is how many bytes of events are sent together: as many as the compressor looks back.
const collected = 32 << 10

// streamWriter writes server-sent events, compressed if the client accepts that: the list of a thousand Darkrooms
// shrinks to a seventh or less. What the compressor knows is forgotten after each piece, so that an open stream takes no memory for it;
// see middleware.Compress for why that discloses nothing.
type streamWriter struct {
	reply.Pieces
	// packer writes to packed; nil for a client that does not accept gzip.
	packer *gzip.Writer
	packed bytes.Buffer
	// waiting are events that are sent together; nil while each is sent at once.
	waiting *bytes.Buffer
}

func newStreamWriter(w http.ResponseWriter, packed bool) *streamWriter {
	o := &streamWriter{Pieces: reply.NewPieces(w)}
	w.Header().Add("Vary", "Accept-Encoding")
	if packed {
		w.Header().Set("Content-Encoding", "gzip")
		o.packer, _ = gzip.NewWriterLevel(&o.packed, gzip.StatelessCompression) // an error would be of the level
	}
	return o
}

func (o *streamWriter) open() error {
	if err := o.Open("text/event-stream"); err != nil {
		return err
	}
	return o.write(fmt.Sprintf("retry: %d\n\n", retryAfter.Milliseconds()))
}

// collect has events wait for each other until release.
func (o *streamWriter) collect() { o.waiting = &bytes.Buffer{} }

func (o *streamWriter) release() error {
	piece := o.waiting.Bytes()
	o.waiting = nil
	return o.send(piece)
}

func (o *streamWriter) event(kind, id string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	return o.write(fmt.Sprintf("%sevent: %s\ndata: %s\n\n", id, kind, raw))
}

func (o *streamWriter) write(text string) error {
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

func (o *streamWriter) send(piece []byte) error {
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
