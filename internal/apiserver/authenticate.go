package apiserver

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/listen"
)

// authenticate identifies the caller and limits the rate and the number of concurrent requests of each caller. Until
// the cache is synchronized, it refuses requests that read it.
func (s *Server) authenticate(r *route) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if r.public {
			next(ctx)
			return
		}
		request, w := humago.Unwrap(ctx)
		if r.streams && request.Method == http.MethodHead {
			// The stream would occupy the connection, which the client reuses for its next request.
			middleware.Refuse(ctx.Context(), w, problem.New(http.StatusMethodNotAllowed,
				"HEAD is not allowed here; allowed: GET").WithHeader("Allow", http.MethodGet))
			return
		}
		who, leave, err := s.enter(ctx.Context(), w, request, r)
		if err != nil {
			middleware.Refuse(ctx.Context(), w, err)
			return
		}
		defer leave()
		if !r.uncached && !s.synced() {
			middleware.Refuse(ctx.Context(), w, errNotSynced())
			return
		}
		if r.body == nil {
			listen.Keep(ctx.Context())
		}
		// Browsers set this header; same-origin means the page.
		onPage := context.WithValue(ctx.Context(), onPageKey{}, request.Header.Get("Sec-Fetch-Site") == "same-origin")
		next(huma.WithContext(ctx, auth.WithCaller(onPage, who)))
	}
}

// onPageKey marks requests that the browser says come from the page; for display only.
type onPageKey struct{}

// enter identifies the caller, waits for the rate limit and takes a place until leave is called. Streams take their
// place in the handler, requests with a body in admit.
func (s *Server) enter(
	ctx context.Context, w http.ResponseWriter, request *http.Request, r *route,
) (who *auth.Caller, leave func(), err error) {
	if who, err = s.auth.Identify(ctx, w, request); err != nil {
		return nil, nil, err
	}
	middleware.SetUser(ctx, who.Name())
	rates := s.limits.Rates
	if r.streams {
		rates = s.limits.StreamRates
	}
	if err := rates.Wait(ctx, who.Name(), limit.RateTimeout); err != nil {
		return nil, nil, err
	}
	if r.streams || r.body != nil {
		return who, func() {}, nil
	}
	leave, err = s.limits.Requests.Enter(ctx, who.Name())
	return who, leave, err
}
