package main

import (
	"io"
	"net/http"
	"strings"

	"github.com/zalando/skipper/filters"
)

// unavailable returns the filters of the routes to Services without endpoints, status and
// inlineContent. A route with an unknown filter is left out, and its requests would go to
// the route of a shorter path.
func unavailable() filters.Registry {
	registry := filters.Registry{}
	registry.Register(spec[float64]{filters.StatusName, func(code float64) filters.Filter { return status(code) }})
	registry.Register(spec[string]{filters.InlineContentName, func(body string) filters.Filter { return content(body) }})
	return registry
}

// spec creates filters that have one argument.
type spec[T any] struct {
	name   string
	create func(T) filters.Filter
}

// Name implements filters.Spec.
func (s spec[T]) Name() string { return s.name }

// CreateFilter implements filters.Spec.
func (s spec[T]) CreateFilter(arguments []any) (filters.Filter, error) {
	if len(arguments) != 1 {
		return nil, filters.ErrInvalidFilterParameters
	}
	argument, ok := arguments[0].(T)
	if !ok {
		return nil, filters.ErrInvalidFilterParameters
	}
	return s.create(argument), nil
}

// status is the code of a response.
type status int

// Request implements filters.Filter.
func (s status) Request(filters.FilterContext) {}

// Response implements filters.Filter.
func (s status) Response(context filters.FilterContext) {
	context.Response().StatusCode = int(s)
}

// content is the text of a response.
type content string

// Request implements filters.Filter.
func (c content) Request(context filters.FilterContext) {
	context.Serve(&http.Response{
		Header:        http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
		Body:          io.NopCloser(strings.NewReader(string(c))),
		ContentLength: int64(len(c)),
	})
}

// Response implements filters.Filter.
func (c content) Response(filters.FilterContext) {}
