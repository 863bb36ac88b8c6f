package apiserver

import (
	"context"
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
	leave, err := s.limits.Streams.Enter(ctx, auth.CallerOf(ctx).Name())
	if err != nil {
		return nil, problem.TooManyRequests(fmt.Sprintf(
			"too many streams are open: close some, or try again later; each caller may have %d", limit.MaxStreams), 10)
	}
	return reply.Written(func(w http.ResponseWriter, r *http.Request) {
		defer leave()
		events := &live.Stream{
			Darkrooms: s.darkrooms, Scope: scope, StillKnown: s.auth.StillKnown,
			Heartbeat: s.options.Heartbeat, Stopping: s.stopping,
		}
		reason := events.Run(ctx, w, reply.AcceptsGzip(r))
		s.log.V(1).Info("Stream ended", "user", auth.CallerOf(ctx).Name(), "reason", fmt.Sprint(reason))
	}), nil
}
