package serve

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// statuses maps kinds of problems to HTTP status codes. The default is 500.
var statuses = map[problem.Kind]int{
	problem.Invalid:            http.StatusBadRequest,
	problem.URLTooLong:         http.StatusRequestURITooLong,
	problem.MethodNotAllowed:   http.StatusMethodNotAllowed,
	problem.Forbidden:          http.StatusForbidden,
	problem.Expired:            http.StatusGone,
	problem.CredentialsRefused: http.StatusForbidden,
	problem.Missing:            http.StatusNotFound,
	problem.TooLarge:           http.StatusRequestEntityTooLarge,
	problem.NotAnImage:         http.StatusUnsupportedMediaType,
	problem.Untransformable:    http.StatusUnsupportedMediaType,
	problem.Busy:               http.StatusServiceUnavailable,
	problem.SourceBusy:         http.StatusServiceUnavailable,
	problem.UpstreamFailed:     http.StatusBadGateway,
	problem.TimedOut:           http.StatusGatewayTimeout,
	problem.Loop:               http.StatusLoopDetected,
}

func statusOf(k problem.Kind) int { return cmp.Or(statuses[k], http.StatusInternalServerError) }

// sendProblem responds with a problem.
func sendProblem(w http.ResponseWriter, r *http.Request, p *problem.Problem) {
	w.Header().Set("Cache-Control", cacheControlOfProblem(p.Kind))
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(max(p.RetryAfter, time.Second)/time.Second)))
	}
	sendDetails(w, r, statusOf(p.Kind), p.Detail)
}

// sendDetails responds with the problem details of RFC 9457.
func sendDetails(w http.ResponseWriter, r *http.Request, status int, detail string) {
	body, _ := json.Marshal(map[string]any{ // strings and numbers can always be encoded
		"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail,
	})
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}
