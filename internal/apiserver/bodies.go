package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// bodyTimeout limits the time to read a body.
const bodyTimeout = 5 * time.Second

// readBody reads a body with at most the given number of bytes.
func readBody(ctx huma.Context, w http.ResponseWriter, most int64) ([]byte, error) {
	control := http.NewResponseController(w)
	// Without support for deadlines, as in tests, the server's read timeout applies.
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	var tooLarge *http.MaxBytesError
	var network net.Error
	body, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), most+1))
	switch {
	case int64(len(body)) > most || errors.As(err, &tooLarge):
		return nil, problem.New(http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the body is too large: it may have %d KiB", most>>10))
	case errors.As(err, &network) && network.Timeout():
		return nil, problem.New(http.StatusRequestTimeout, "the body was not received in time; send it again").
			WithHeader("Connection", "close")
	case err != nil:
		// The client is gone.
		return nil, context.Canceled
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, checkBody(body)
}

// checkBody refuses bodies that Go's decoder would silently change: it replaces invalid UTF-8, which alters passwords,
// and keeps only the last of duplicate keys.
func checkBody(body []byte) error {
	if !utf8.Valid(body) {
		return problem.New(http.StatusBadRequest, "the body is not UTF-8",
			problem.Field{Location: "body", Message: "must be JSON in UTF-8"})
	}
	return wire.CheckShape(body)
}

// request renames huma.Context, because an embedded field named Context would hide its method Context.
type request = huma.Context

// withBody is a request with a body that is already in memory.
type withBody struct {
	request

	body []byte
}

// BodyReader implements huma.Context.
func (c *withBody) BodyReader() io.Reader { return bytes.NewReader(c.body) }

// SetReadDeadline implements huma.Context. The body is already read.
func (c *withBody) SetReadDeadline(time.Time) error { return nil }

// Unwrap supports humago.Unwrap.
func (c *withBody) Unwrap() huma.Context { return c.request }
