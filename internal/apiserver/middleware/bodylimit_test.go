package middleware

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestLargeBodies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size int
		// chunked bodies have no Content-Length.
		chunked  bool
		rejected bool
		cut      bool
	}{
		"the limit":               {size: MaxBody},
		"over the limit":          {size: MaxBody + 1, rejected: true},
		"the limit, in chunks":    {size: MaxBody, chunked: true},
		"over the limit, chunked": {size: MaxBody + 1, chunked: true, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, handled := error(nil), false
			handler := LimitBody(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				handled = true
				_, read = io.Copy(io.Discard, r.Body)
			}))
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(strings.Repeat("x", c.size)))
			if c.chunked {
				request.ContentLength = -1
			}
			got := call(handler, request)
			if c.rejected {
				wantProblem(t, got, http.StatusRequestEntityTooLarge)
			}
			if handled == c.rejected {
				t.Errorf("reaches the handler: %t", handled)
			}
			var tooLarge *http.MaxBytesError
			if cut := errors.As(read, &tooLarge); cut != c.cut {
				t.Errorf("reading the body returns %v", read)
			}
		})
	}
}
