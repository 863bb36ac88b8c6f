package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

const (
	// BeatTimeout limits the time for the reviews of a heartbeat.
	BeatTimeout = 10 * time.Second
	// keepAlivePeriod is the interval of keep-alive comments, so that clients detect a dead connection within seconds.
	keepAlivePeriod = time.Second
)

// Reasons for the end of a stream. The client reconnects.
var (
	errShutdown    = errors.New("the server stops")
	errClientGone  = errors.New("the client is gone")
	errNoLongerMay = errors.New("the caller is no longer known or no longer has permission")
)

// Stream sends Darkrooms to one client: the event reset, an event added for each Darkroom, the event synced, and then
// changes.
type Stream struct {
	Darkrooms *Darkrooms
	// Scope contains the namespaces that the client may watch.
	Scope *Scope
	// StillKnown returns an error once the caller is no longer known.
	StillKnown func(context.Context) error
	// Heartbeat is the interval at which the caller is authenticated and authorized again.
	Heartbeat time.Duration
	// Stopping is closed when the server stops.
	Stopping <-chan struct{}

	out       *writer
	watch     *Watch
	heartbeat *time.Ticker
}

// Run sends events, and returns the reason why the stream ended.
func (s *Stream) Run(ctx context.Context, w http.ResponseWriter, packed bool) error {
	s.out = newWriter(w, packed)
	if err := s.out.open(); err != nil {
		return err
	}
	s.heartbeat = time.NewTicker(s.Heartbeat)
	defer s.heartbeat.Stop()
	keepAlive := time.NewTicker(keepAlivePeriod)
	defer keepAlive.Stop()
	s.watch = s.Darkrooms.Watch()
	defer s.watch.Stop()
	for err := s.everything(ctx); ; {
		if err != nil {
			return err
		}
		select {
		case <-s.watch.Changed:
			err = s.send(ctx, s.watch.Take())
		case <-s.heartbeat.C:
			_, err = s.beat(ctx)
		case <-keepAlive.C:
			err = s.out.write(":\n\n")
		case <-ctx.Done():
			return errClientGone
		case <-s.Stopping:
			return errShutdown
		}
	}
}

// everything sends all Darkrooms in the scope.
func (s *Stream) everything(ctx context.Context) error {
	s.out.collect()
	if err := s.out.event("reset", struct{}{}); err != nil {
		return err
	}
	sent := 0
	for _, darkroom := range s.watch.Restart() {
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
		if err := s.out.event(Added, wire.Flatten(darkroom)); err != nil {
			return err
		}
	}
	if err := s.out.event("synced", Synced{Items: sent, All: s.Scope.all}); err != nil {
		return err
	}
	return s.out.release()
}

// send sends the changes in the scope. It stops if a heartbeat has sent everything instead.
func (s *Stream) send(ctx context.Context, changes []Change) error {
	for _, change := range changes {
		if again, err := s.due(ctx); again || err != nil {
			return err
		}
		visible, err := s.Scope.Has(ctx, change.Darkroom.Namespace)
		if err != nil {
			return err
		}
		if !visible {
			continue
		}
		if err := s.out.event(change.Kind, wire.Flatten(change.Darkroom)); err != nil {
			return err
		}
	}
	return nil
}

// due calls beat if a heartbeat is due, because sending events to a slow client may take minutes.
func (s *Stream) due(ctx context.Context) (again bool, err error) {
	select {
	case <-s.heartbeat.C:
		defer s.heartbeat.Reset(s.Heartbeat) // the interval starts after the reviews, which may take a long time
		return s.beat(ctx)
	default:
		return false, nil
	}
}

// beat authenticates and authorizes the caller again, and sends a heartbeat. If the scope has changed, it sends
// everything again and returns true.
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

// Synced is the event after the complete list.
type Synced struct {
	Items int  `json:"items" doc:"Number of Darkrooms"`
	All   bool `json:"all" doc:"Whether the caller may watch all namespaces; if not, there may be more Darkrooms"`
}
