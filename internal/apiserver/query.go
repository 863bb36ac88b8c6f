package apiserver

import (
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// wholeQuery refuses requests of the API that would be understood in part: Go drops parameters that it cannot parse, and
// huma reads the first of several, so that a dry run would be none. The addresses of the page may have several.
func wholeQuery(ctx huma.Context, next func(huma.Context)) {
	request, w := humago.Unwrap(ctx)
	query, err := url.ParseQuery(request.URL.RawQuery)
	if err != nil {
		middleware.Refuse(ctx.Context(), w, problem.New(http.StatusBadRequest,
			"the query of the URL cannot be parsed: escape %, ; and other characters of its values"))
		return
	}
	for name, values := range query {
		if len(values) > 1 {
			middleware.Refuse(ctx.Context(), w, problem.New(http.StatusBadRequest, "a parameter is given more than once",
				problem.Field{Location: "query." + name, Message: "must be given once"}))
			return
		}
	}
	next(ctx)
}
