package middleware

import (
	"fmt"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// RequireMediaType rejects bodies of a media type other than the one that the handler expects. It also protects against
// HTML forms of other sites, which cannot send JSON.
func RequireMediaType(want string) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		got, _, err := mime.ParseMediaType(ctx.Header("Content-Type"))
		if err != nil || got != want {
			_, w := humago.Unwrap(ctx)
			detail := fmt.Sprintf("unsupported media type: the body and the header Content-Type must be %s", want)
			problem.Write(w, problem.New(http.StatusUnsupportedMediaType, detail).WithHeader("Accept", want))
			return
		}
		next(ctx)
	}
}
