package apiserver

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
)

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
