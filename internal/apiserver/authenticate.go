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

// Keys of huma's metadata of operations.
const (
	// public marks operations that do not require authentication.
	public = "public"
	// streaming marks operations that stay open. They have a separate limit.
	streaming = "streaming"
	// admitting marks operations with a body, which take their places later: see admit.
	admitting = "admitting"
	// cacheless marks operations that do not read Darkrooms from the cache. The others fail until it is complete: what
	// it lacks would count as absent.
	cacheless = "cacheless"
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
	if ctx.Operation().Metadata[streaming] == true && request.Method == http.MethodHead {
		// The client sends its next request on this connection, which the stream would hold.
		middleware.Refuse(ctx.Context(), w, problem.New(http.StatusMethodNotAllowed,
			"HEAD is not possible here, but GET").WithHeader("Allow", http.MethodGet))
		return
	}
	rates := s.limits.rates
	if ctx.Operation().Metadata[streaming] == true {
		rates = s.limits.streamRates
	}
	who, leave, err := s.enter(ctx.Context(), w, request, rates, ctx.Operation().Metadata[streaming] == true ||
		ctx.Operation().Metadata[admitting] == true)
	if err != nil {
		middleware.Refuse(ctx.Context(), w, err)
		return
	}
	defer leave()
	if ctx.Operation().Metadata[cacheless] != true && !s.synced() {
		middleware.Refuse(ctx.Context(), w, errNotSynced())
		return
	}
	if ctx.Operation().Metadata[admitting] != true {
		listen.Keep(ctx.Context())
	}
	// Browsers name the site of a request. Only the page is of this one.
	onPage := context.WithValue(ctx.Context(), onPageKey{}, request.Header.Get("Sec-Fetch-Site") == "same-origin")
	next(huma.WithContext(ctx, auth.WithCaller(onPage, who)))
}

// onPageKey marks requests that the browser says come from the page; for display only.
type onPageKey struct{}

// enter identifies the caller of a request, waits for its rate and reserves a place, which leave releases, unless the
// request takes its places itself.
func (s *Server) enter(
	ctx context.Context, w http.ResponseWriter, request *http.Request, rates *limit.Rates, placeless bool,
) (who *auth.Caller, leave func(), err error) {
	if who, err = s.auth.Identify(ctx, w, request); err != nil {
		return nil, nil, err
	}
	middleware.SetUser(ctx, who.Name())
	if err := rates.Wait(ctx, who.Name(), rateTimeout); err != nil {
		return nil, nil, err
	}
	if placeless {
		return who, func() {}, nil
	}
	leave, err = s.limits.requests.Enter(ctx, who.Name())
	return who, leave, err
}
