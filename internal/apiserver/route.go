package apiserver

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
)

// route is an operation of the API. It determines the middlewares and the OpenAPI document.
type route struct {
	method, path                  string
	id, tag, summary, description string

	// public routes do not require authentication.
	public bool
	// streams stay open. They have separate limits.
	streams bool
	// uncached routes do not read Darkrooms from the cache. The others fail until the cache is synchronized.
	uncached bool
	// ifMatch requires the header If-Match.
	ifMatch bool
	// body is nil for routes without a body.
	body *body

	// status is the status of a success; the default is 200, or 204 without a body.
	status int
	// errors are the statuses of errors in addition to allErrors.
	errors []int
	// responses are successful responses that huma cannot derive from the handler.
	responses map[string]*huma.Response
	handle    func(huma.API, huma.Operation)
}

// body is the body of a request.
type body struct {
	mediaType string
	// most is the maximum size in bytes.
	most int64
	// right is the permission that admit requires. Nil means that the route only reads.
	right rightOf
	// schema documents a body that the handler decodes; nil for a body that huma decodes.
	schema func(huma.Registry) *huma.Schema
}

// by registers a handler of a route.
func by[I, O any](handler func(context.Context, *I) (*O, error)) func(huma.API, huma.Operation) {
	return func(api huma.API, op huma.Operation) { huma.Register(api, op, handler) }
}

// content documents a response that is not JSON.
func content(mediaType, text string) map[string]*huma.Response {
	return map[string]*huma.Response{strconv.Itoa(http.StatusOK): {Description: text, Content: map[string]*huma.MediaType{
		mediaType: {Schema: &huma.Schema{Type: huma.TypeString}},
	}}}
}

func schemaOf[T any](registry huma.Registry) *huma.Schema {
	return registry.Schema(reflect.TypeFor[T](), true, "")
}

// allErrors returns the statuses of all errors of the route, for the OpenAPI document.
func (r *route) allErrors() []int {
	out := append(slices.Clone(r.errors), http.StatusBadRequest, http.StatusUnprocessableEntity)
	if !r.public {
		out = append(out, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
			http.StatusServiceUnavailable)
	}
	if strings.HasPrefix(r.path, onePath) {
		out = append(out, http.StatusNotFound)
	}
	if r.body != nil {
		out = append(out, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if r.ifMatch {
		out = append(out, http.StatusPreconditionFailed, http.StatusPreconditionRequired)
	}
	return out
}

// register adds a route. The order of the middlewares is the order of refusals: 400 for the query, 401, 428, 415 and 403.
func (s *Server) register(api huma.API, r *route) {
	op := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Tags: []string{r.tag}, Summary: r.summary,
		Description: r.description, DefaultStatus: r.status, Errors: r.allErrors(), Responses: r.responses,
		Middlewares: huma.Middlewares{wholeQuery, s.authenticate(r), wholeIfMatch(r.ifMatch)},
	}
	if r.public {
		op.Security = []map[string][]string{}
	}
	if r.body != nil {
		// huma refuses a body of exactly this size.
		op.MaxBodyBytes = r.body.most + 1
		op.Middlewares = append(op.Middlewares, middleware.RequireMediaType(r.body.mediaType))
		if !r.public {
			op.Middlewares = append(op.Middlewares, s.admit(r.body))
		}
	}
	if r.body == nil || r.body.schema == nil {
		r.handle(api, op)
		return
	}
	op.SkipValidateBody = true
	op.RequestBody = &huma.RequestBody{Required: true}
	r.handle(api, op)
	op.RequestBody.Content = map[string]*huma.MediaType{
		r.body.mediaType: {Schema: r.body.schema(api.OpenAPI().Components.Schemas)},
	}
}
