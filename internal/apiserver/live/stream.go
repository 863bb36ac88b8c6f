package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// BeatTimeout bounds the reviews of a heartbeat.
const BeatTimeout = 10 * time.Second

// The reasons why the server ends a stream. The client reconnects and resumes.
var (
	errShutdown    = errors.New("the server stops")
	errClientGone  = errors.New("the client is gone")
	errNoLongerMay = errors.New("the caller is no longer known, or no longer allowed")
)

// Stream sends the changes of a journal to one client. It begins with those that the client has
// missed or, if that is not known, with all there is: an event reset, an event added
// for each Darkroom, and an event synced.
type Stream struct {
	Journal *Journal
	// Scope has the namespaces that the client may watch.
	Scope *Scope
	// StillKnown returns an error once the caller is no longer known.
	StillKnown func(context.Context) error
	// Heartbeat is the interval in which caller and rights are checked again.
	Heartbeat time.Duration
	// Stopping is closed when the server stops.
	Stopping <-chan struct{}

	out       *writer
	position  uint64
	heartbeat *time.Ticker
}

// Run sends events until there is a reason to end, which it returns. lastEventID is the id of the last event that the
// client has.
func (s *Stream) Run(ctx context.Context, w http.ResponseWriter, packed bool, lastEventID string) error {
	s.out = newWriter(w, packed)
	if err := s.out.open(); err != nil {
		return err
	}
	s.heartbeat = time.NewTicker(s.Heartbeat)
	defer s.heartbeat.Stop()
	if !s.resume(lastEventID) {
		if err := s.everything(ctx); err != nil {
			return err
		}
	}
	for {
		changes, next, more, ok := s.Journal.After(s.position)
		if !ok {
			return reply.ErrTooSlow
		}
		if again, err := s.send(ctx, changes, next); err != nil {
			return err
		} else if again {
			continue
		}
		select {
		case <-more:
		case <-s.heartbeat.C:
			if _, err := s.beat(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return errClientGone
		case <-s.Stopping:
			return errShutdown
		}
	}
}

// resume continues where the client was. It reports false if that is unknown or too long ago,
// and if the caller may now watch other namespaces or only some: the journal has no changes of
// rights, so that what has become visible was never sent, and what no longer is must go.
func (s *Stream) resume(lastEventID string) bool {
	id, extent, _ := strings.Cut(lastEventID, "/")
	position, ok := s.Journal.Position(id)
	if !ok || extent != s.Scope.extent() || extent == someNamespaces {
		return false
	}
	s.position = position
	_, _, _, kept := s.Journal.After(position)
	return kept
}

// id is the id of an event: a position in the journal, and the namespaces that the caller may
// watch.
func (s *Stream) id(position uint64) string {
	return s.Journal.ID(position) + "/" + s.Scope.extent()
}

// everything sends all Darkrooms in the scope. Only the last event has an id: who
// loses the connection before it gets all of them again.
func (s *Stream) everything(ctx context.Context) error {
	darkrooms, position := s.Journal.All()
	s.out.collect()
	if err := s.out.event("reset", "", struct{}{}); err != nil {
		return err
	}
	sent := 0
	for _, darkroom := range darkrooms {
		if again, err := s.due(ctx); again || err != nil {
			return err
		}
		visible, err := s.Scope.Has(ctx, darkroom.Namespace)
		if err != nil {
			return err
		}
		if !visible {
			continue
		}
		sent++
		if err := s.out.event(Added, "", wire.Flatten(darkroom)); err != nil {
			return err
		}
	}
	s.position = position
	if err := s.out.event("synced", s.id(position), Synced{Items: sent, All: s.Scope.all}); err != nil {
		return err
	}
	return s.out.release()
}

// send sends the changes up to, and without, a position that are in the scope. The id of each is the position after it.
// It reports whether everything was sent instead.
func (s *Stream) send(ctx context.Context, changes []Change, next uint64) (again bool, err error) {
	for i, change := range changes {
		if again, err := s.due(ctx); again || err != nil {
			return again, err
		}
		visible, err := s.Scope.Has(ctx, change.Darkroom.Namespace)
		if err != nil {
			return false, err
		}
		if !visible {
			continue
		}
		if err := s.out.event(change.Kind, s.id(s.position+uint64(i)+1), wire.Flatten(change.Darkroom)); err != nil {
			return false, err
		}
	}
	s.position = next
	return false, nil
}

// due is beat if it is time for one: a client that reads slowly is sent events for minutes.
func (s *Stream) due(ctx context.Context) (again bool, err error) {
	select {
	case <-s.heartbeat.C:
		defer s.heartbeat.Reset(s.Heartbeat) // something is sent between two, however long the reviews of one take
		return s.beat(ctx)
	default:
		return false, nil
	}
}

// beat authenticates and authorizes the caller again, and sends a heartbeat. If the
// caller's rights have changed, it sends everything again, and reports that.
func (s *Stream) beat(ctx context.Context) (again bool, err error) {
	reviews, cancel := context.WithTimeout(ctx, BeatTimeout)
	defer cancel()
	if err := s.StillKnown(reviews); err != nil {
		return false, fmt.Errorf("%w: %w", errNoLongerMay, err)
	}
	different, err := s.Scope.refresh(reviews)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errNoLongerMay, err)
	}
	if different {
		return true, s.everything(ctx)
	}
	return false, s.out.write(": heartbeat\n\n")
}

// Synced reports that the client has the complete list.
type Synced struct {
	Items int  `json:"items" doc:"How many Darkrooms there are"`
	All   bool `json:"all" doc:"Whether the caller may watch all namespaces: else there may be more"`
}
