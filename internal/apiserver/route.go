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

// route is an operation of the API: what it is for, what it demands of a request, and its handler. The middlewares and
// the OpenAPI document follow from it.
type route struct {
	method, path                  string
	id, tag, summary, description string

	// public routes do not require authentication.
	public bool
	// streams stay open: they have rates and places of their own.
	streams bool
	// uncached routes do not read Darkrooms from the cache. The others fail until it is complete: what it lacks would
	// count as absent.
	uncached bool
	// ifMatch requires the header If-Match.
	ifMatch bool
	// body is nil for routes without a body.
	body *body

	// status is the status of success, and 200 by default; 204 without a response.
	status int
	// errors are the statuses of errors that do not follow from the above.
	errors []int
	// responses are successes that huma does not know from the handler.
	responses map[string]*huma.Response
	handle    func(huma.API, huma.Operation)
}

// body is the body of a request.
type body struct {
	mediaType string
	// most is the number of bytes that are read.
	most int64
	// right must be held before the request takes what callers share. Without it the route only reads, and takes no place
	// of writes.
	right rightOf
	// schema documents a body that the handler decodes; nil for a body that huma decodes.
	schema func(huma.Registry) *huma.Schema
}

// by is the handler of a route.
func by[I, O any](handler func(context.Context, *I) (*O, error)) func(huma.API, huma.Operation) {
	return func(api huma.API, op huma.Operation) { huma.Register(api, op, handler) }
}

// content documents a response that is not JSON.
func content(mediaType, text string) map[string]*huma.Response {
	return map[string]*huma.Response{strconv.Itoa(http.StatusOK): {Description: text, Content: map[string]*huma.MediaType{
		mediaType: {Schema: &huma.Schema{Type: huma.TypeString}},
	}}}
}

// schemaOf returns the schema of a type.
func schemaOf[T any](registry huma.Registry) *huma.Schema {
	return registry.Schema(reflect.TypeFor[T](), true, "")
}

// allErrors returns the statuses of errors.
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

// register adds a route to the API.
func (s *Server) register(api huma.API, r *route) {
	op := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Tags: []string{r.tag}, Summary: r.summary,
		Description: r.description, DefaultStatus: r.status, Errors: r.allErrors(), Responses: r.responses,
		Middlewares: huma.Middlewares{wholeQuery, s.authenticate(r)},
	}
	if r.public {
		op.Security = []map[string][]string{}
	}
	if r.body != nil {
		// One more, because huma refuses a body that has as many.
		op.MaxBodyBytes = r.body.most + 1
		op.Middlewares = append(op.Middlewares, middleware.RequireMediaType(r.body.mediaType))
		if !r.public {
			op.Middlewares = append(op.Middlewares, s.admit(r.body))
		}
	}
	op.Middlewares = append(op.Middlewares, wholeIfMatch(r.ifMatch))
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
