package apiserver

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
)

// Keys of huma's metadata of operations.
const (
	// public marks operations that need no caller. All others do.
	public = "public"
	// streaming marks operations that last: they have places of their own.
	streaming = "streaming"
)

// authenticate defends against callers whom the cluster does not know, against those
// who ask too often, and against those who have many requests open at one time.
// Operations are closed unless they are marked public.
func (s *Server) authenticate(ctx huma.Context, next func(huma.Context)) {
	request, w := humago.Unwrap(ctx)
	base := s.withAddress(request)
	if ctx.Operation().Metadata[public] == true {
		next(huma.WithContext(ctx, base))
		return
	}
	who, leave, err := s.enter(base, request, ctx.Operation().Metadata[streaming] == true)
	if err != nil {
		asProblem(base, err).write(w)
		return
	}
	defer leave()
	next(huma.WithContext(ctx, withCaller(base, who)))
}

// enter identifies the caller of a request, who then has a place until leave is called.
func (s *Server) enter(ctx context.Context, request *http.Request, stream bool) (who *caller, leave func(), err error) {
	if who, err = s.signIns.admit(ctx, tokenOf(request)); err != nil {
		return nil, nil, err
	}
	noteCaller(ctx, who)
	if err := limited(s.limits.Take(who.user.GetName())); err != nil {
		return nil, nil, err
	}
	if stream {
		return who, func() {}, nil
	}
	leave, err = s.requests.Enter(ctx, who.user.GetName())
	return who, leave, limited(err)
}

type addressKey struct{}

// withAddress keeps whose request it is, by the address.
func (s *Server) withAddress(request *http.Request) context.Context {
	return context.WithValue(request.Context(), addressKey{}, s.proxies.client(request))
}

func addressOf(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}

// limited makes *limit.Exceeded a problem. Other errors stay as they are.
func limited(err error) error {
	var exceeded *limit.Exceeded
	if errors.As(err, &exceeded) {
		return tooMany(exceeded.Error(), exceeded.Seconds())
	}
	return err
}

// asProblem makes any error a problem. The text of errors that are none goes to the log
// alone.
func asProblem(ctx context.Context, err error) *Problem {
	var problem *Problem
	if errors.As(err, &problem) {
		return problem
	}
	if errors.Is(err, context.Canceled) {
		// The client is gone, and reads no answer.
		return unavailable("the request was canceled")
	}
	noteError(ctx, err)
	return newProblem(http.StatusInternalServerError, ownFault)
}
