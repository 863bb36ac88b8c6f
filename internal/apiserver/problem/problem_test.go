package problem_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

func TestWriteSendsStatusHeadersAndDetails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		problem      *problem.Details
		status       int
		header, want string
		body         string
	}{
		"invalid fields": {
			problem: problem.New(http.StatusUnprocessableEntity, "the body is invalid", problem.Field{Location: "body.name", Message: "required"}),
			status:  http.StatusUnprocessableEntity, header: "Content-Type", want: "application/problem+json",
			body: `{"title":"Unprocessable Entity","status":422,"detail":"the body is invalid","errors":[{"location":"body.name","message":"required"}]}`,
		},
		"no token": {
			problem: problem.Unauthorized("authentication required"),
			status:  http.StatusUnauthorized, header: "WWW-Authenticate", want: `Bearer realm="darkrooms"`,
			body: `{"title":"Unauthorized","status":401,"detail":"authentication required"}`,
		},
		"over a limit": {
			problem: problem.TooManyRequests("rate limit exceeded", 7),
			status:  http.StatusTooManyRequests, header: "Retry-After", want: "7",
			body: `{"title":"Too Many Requests","status":429,"detail":"rate limit exceeded"}`,
		},
		"no cluster": {
			problem: problem.Unavailable("the Kubernetes API is unavailable"),
			status:  http.StatusServiceUnavailable, header: "Retry-After", want: "5",
			body: `{"title":"Service Unavailable","status":503,"detail":"the Kubernetes API is unavailable"}`,
		},
		"length of another body": {
			problem: problem.Internal(http.StatusInternalServerError),
			status:  http.StatusInternalServerError, header: "Content-Length", want: "",
			body: `{"title":"Internal Server Error","status":500,"detail":"internal error; see the log of the server"}`,
		},
	} {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Length", "3")
		problem.Write(w, c.problem)
		if w.Code != c.status || w.Header().Get(c.header) != c.want || w.Body.String() != c.body+"\n" {
			t.Errorf("%s: %d, %s %q, %s", name, w.Code, c.header, w.Header().Get(c.header), w.Body)
		}
	}
}
