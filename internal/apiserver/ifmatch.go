package apiserver

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// wholeIfMatch joins several If-Match headers into one, because huma reads only the first. It rejects an empty header,
// which huma treats as absent, so that a DELETE without a known version does not delete any version. It also rejects a
// missing header if the route requires it.
func wholeIfMatch(required bool) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		request, w := humago.Unwrap(ctx)
		lines := request.Header.Values("If-Match")
		tags := strings.Join(lines, ", ")
		switch {
		case len(lines) == 0 && required:
			middleware.Refuse(ctx.Context(), w, problem.New(http.StatusPreconditionRequired,
				"the header If-Match is required: send the ETag of the version to change",
				problem.Field{Location: "header.If-Match", Message: "required"}))
			return
		case len(lines) > 0 && strings.Trim(tags, ", \t") == "":
			middleware.Refuse(ctx.Context(), w, problem.New(http.StatusBadRequest, "the header If-Match is empty",
				problem.Field{Location: "header.If-Match", Message: "must be the ETag of a version, or * for any"}))
			return
		case len(lines) > 0:
			request.Header.Set("If-Match", tags)
		}
		next(ctx)
	}
}
