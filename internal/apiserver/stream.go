package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/live"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
)

type streamInput struct {
	Namespace string `query:"namespace" maxLength:"63" doc:"Only Darkrooms of this namespace; none means all namespaces that you may watch"`
}

// stream sends live events; see live.Stream.
func (s *Server) stream(ctx context.Context, in *streamInput) (*reply.Raw, error) {
	scope, err := s.scope(ctx, "watch", in.Namespace)
	if err != nil {
		return nil, err
	}
	scope.Through(s.auth.Access.Patient())
	leave, err := s.enterStream(ctx, scope)
	if err != nil {
		return nil, err
	}
	return reply.Written(func(w http.ResponseWriter, r *http.Request) {
		defer leave()
		s.metrics.streams.Inc()
		defer s.metrics.streams.Dec()
		events := &live.Stream{
			Darkrooms: s.darkrooms, Scope: scope, StillKnown: s.auth.StillKnown,
			Heartbeat: s.options.Heartbeat, Stopping: s.stopping,
		}
		reason := events.Run(ctx, w, reply.AcceptsGzip(r))
		s.log.V(1).Info("Stream ended", "user", auth.CallerOf(ctx).Name(), "reason", fmt.Sprint(reason))
	}), nil
}

// enterStream takes a place for a stream. Callers who may not see any Darkroom share a few separate places.
func (s *Server) enterStream(ctx context.Context, scope *live.Scope) (leave func(), err error) {
	places := s.limits.streams
	if sees, err := scope.SeesAny(ctx, s.darkrooms.All()); err != nil {
		return nil, err
	} else if !sees {
		places = s.limits.strangers
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
