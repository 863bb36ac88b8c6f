// Package problem contains the error responses of the REST API: problem details as defined in RFC 9457.
package problem

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// MediaType is the content type of a problem.
const MediaType = "application/problem+json"

// Details is the problem of a request: the body of the response, and the error that handlers return.
type Details struct {
	Title  string  `json:"title" doc:"Text of the HTTP status"`
	Status int     `json:"status" doc:"The HTTP status"`
	Detail string  `json:"detail" doc:"Cause and remedy"`
	Errors []Field `json:"errors,omitempty" doc:"Invalid fields"`

	header http.Header
}

// Field is the error of one field.
type Field struct {
	Location string `json:"location,omitempty" doc:"Path of the field, for example body.source.baseUrl or query.limit"`
	Message  string `json:"message" doc:"Cause and remedy"`
}

// New returns a problem with an HTTP status. The detail describes cause and remedy.
func New(status int, detail string, fields ...Field) *Details {
	return &Details{Title: http.StatusText(status), Status: status, Detail: detail, Errors: fields}
}

// Unauthorized is the problem of a request without a valid token.
func Unauthorized(detail string) *Details {
	return New(http.StatusUnauthorized, detail).WithHeader("WWW-Authenticate", `Bearer realm="darkrooms"`)
}

// TooManyRequests is the problem of a caller that exceeds a limit. Clients may try again after the given number of
// seconds.
func TooManyRequests(detail string, retryAfter int) *Details {
	return New(http.StatusTooManyRequests, detail).WithHeader("Retry-After", strconv.Itoa(retryAfter))
}

// Unavailable means that the cluster or this server is temporarily unavailable.
func Unavailable(detail string) *Details {
	return New(http.StatusServiceUnavailable, detail).WithHeader("Retry-After", "5")
}

// BadGateway means that a Darkroom does not serve an image.
func BadGateway(detail string) *Details {
	return New(http.StatusBadGateway, detail)
}

// Internal is the problem of an unexpected error. The details are only logged.
func Internal(status int) *Details {
	return New(status, "internal error; see the log of the server")
}

// WithHeader sets a header of the response.
func (d *Details) WithHeader(name, value string) *Details {
	if d.header == nil {
		d.header = http.Header{}
	}
	d.header.Set(name, value)
	return d
}

// Error implements error.
func (d *Details) Error() string { return d.Detail }

// GetStatus implements huma.StatusError.
func (d *Details) GetStatus() int { return d.Status }

// ContentType implements huma.ContentTypeFilter.
func (d *Details) ContentType(string) string { return MediaType }

// GetHeaders implements huma.HeadersError.
func (d *Details) GetHeaders() http.Header { return d.header }

// Write responds with a problem, outside of huma.
func Write(w http.ResponseWriter, details *Details) {
	for name, values := range details.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", MediaType)
	w.Header().Del("Content-Length")
	w.WriteHeader(details.Status)
	// An error means that the client is gone.
	_ = json.NewEncoder(w).Encode(details)
}
