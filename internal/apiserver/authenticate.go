package apiserver

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
)

// Keys of huma's metadata of operations.
const (
	// public marks operations that do not require authentication.
	public = "public"
	// streaming marks operations that stay open. They have a separate limit.
	streaming = "streaming"
)

// authenticate rejects callers that the cluster does not accept, and limits the rate and
// the number of concurrent requests of each caller. Every operation requires authentication
// unless it is marked public.
func (s *Server) authenticate(ctx huma.Context, next func(huma.Context)) {
	request, w := humago.Unwrap(ctx)
	if ctx.Operation().Metadata[public] == true {
		next(ctx)
		return
	}
	who, leave, err := s.enter(ctx.Context(), w, request, ctx.Operation().Metadata[streaming] == true)
	if err != nil {
		middleware.Refuse(ctx.Context(), w, err)
		return
	}
	defer leave()
	// Browsers name the site of a request. Only the page is of this one.
	onPage := context.WithValue(ctx.Context(), onPageKey{}, request.Header.Get("Sec-Fetch-Site") == "same-origin")
	next(huma.WithContext(ctx, auth.WithCaller(onPage, who)))
}

// onPageKey is the key of whether a request was sent by the page, as its browser says. It decides nothing.
type onPageKey struct{}

// enter identifies the caller of a request and reserves a place, which leave releases.
func (s *Server) enter(ctx context.Context, w http.ResponseWriter, request *http.Request, stream bool) (who *auth.Caller, leave func(), err error) {
	if who, err = s.auth.Identify(ctx, w, request); err != nil {
		return nil, nil, err
	}
	middleware.SetUser(ctx, who.Name())
	if err := s.limits.Take(who.Name()); err != nil {
		return nil, nil, err
	}
	if stream {
		return who, func() {}, nil
	}
	leave, err = s.requests.Enter(ctx, who.Name())
	return who, leave, err
}

// shared defends what an operation needs much of, such as memory for its body, against
// one caller who takes all of it. A caller who sends slowly keeps only its own share.
func shared(places *limit.Shares) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		who := middleware.AddressOf(ctx.Context())
		if caller := auth.CallerOf(ctx.Context()); caller != nil {
			who = caller.Name()
		}
		leave, err := places.Enter(ctx.Context(), who)
		if err != nil {
			_, w := humago.Unwrap(ctx)
			middleware.Refuse(ctx.Context(), w, err)
			return
		}
		defer leave()
		next(ctx)
	}
}
