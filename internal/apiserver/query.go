package apiserver

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// wholeQuery rejects queries that would be ignored in part. Go drops parameters that it cannot parse; huma reads only
// the first value of several and treats an empty value as absent. A dry run could become a write.
func wholeQuery(ctx huma.Context, next func(huma.Context)) {
	request, w := humago.Unwrap(ctx)
	query, err := url.ParseQuery(request.URL.RawQuery)
	if err != nil {
		middleware.Refuse(ctx.Context(), w, problem.New(http.StatusBadRequest,
			"the query of the URL cannot be parsed: escape %, ; and other characters of its values"))
		return
	}
	for name, values := range query {
		isNamed := func(parameter *huma.Param) bool { return parameter.Name == name }
		at := slices.IndexFunc(ctx.Operation().Parameters, isNamed)
		switch {
		case len(values) > 1:
			refuseParameter(ctx, name, "a parameter is given more than once", "must be given once")
			return
		case values[0] == "" && at >= 0 && !mayBeEmpty(ctx.Operation().Parameters[at].Schema):
			refuseParameter(ctx, name, "a parameter is empty", "must have a value or be omitted")
			return
		}
	}
	next(ctx)
}

// mayBeEmpty reports whether an empty value is valid: for text, but not for a number, an enum or a boolean.
func mayBeEmpty(schema *huma.Schema) bool {
	return schema.Type == huma.TypeString && len(schema.Enum) == 0
}

func refuseParameter(ctx huma.Context, name, detail, message string) {
	_, w := humago.Unwrap(ctx)
	middleware.Refuse(ctx.Context(), w, problem.New(http.StatusBadRequest, detail,
		problem.Field{Location: "query." + name, Message: message}))
}
