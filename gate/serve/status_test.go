package serve

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

func kinds() []problem.Kind { return append(slices.Sorted(maps.Keys(statuses)), problem.Internal) }

func TestTheStatusShowsWhetherARetryMayHelp(t *testing.T) {
	for _, kind := range kinds() {
		if status := statusOf(kind); kind.IsFailure() != (status >= http.StatusInternalServerError) {
			t.Errorf("%s: got status %d, want 5xx only for a failure (%t)", kind, status, kind.IsFailure())
		}
	}
}

// For any problem, a client receives a document that is not a web page, is stored for a few seconds at most, and does
// not contain the cause.
func TestAProblemIsADocumentWithoutItsCause(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		p := problem.New(rapid.SampledFrom(kinds()).Draw(t, "kind"), "%s", rapid.String().Draw(t, "detail"))
		after := rapid.SampledFrom([]time.Duration{0, 1, time.Second - 1, time.Second, 90*time.Second + 1}).Draw(t, "after")
		method := rapid.SampledFrom([]string{http.MethodGet, http.MethodHead, http.MethodPost}).Draw(t, "method")
		response := httptest.NewRecorder()
		sendProblem(response, httptest.NewRequest(method, "/a", nil), p.Because(errors.New("the cause")).Retry(after))

		status := statusOf(p.Kind)
		if response.Code != status {
			t.Errorf("got status %d, want %d", response.Code, status)
		}
		header := response.Header()
		for name, want := range map[string]string{
			"Cache-Control": cacheControlOfProblem(p.Kind), "X-Content-Type-Options": "nosniff",
			"Content-Type": "application/problem+json",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("got %s %q, want %q", name, got, want)
			}
		}
		if strings.Contains(response.Body.String(), "the cause") {
			t.Errorf("got the body %s, want none of the cause", response.Body)
		}
		var wait string
		if after > 0 {
			wait = strconv.Itoa(int(max(after, time.Second).Seconds()))
		}
		if header.Get("Retry-After") != wait {
			t.Errorf("got Retry-After %q, want %q", header.Get("Retry-After"), wait)
		}
		if method == http.MethodHead {
			if response.Body.Len() > 0 || header.Get("Content-Length") == "0" {
				t.Errorf("got %d bytes with Content-Length %q, want no body and its length",
					response.Body.Len(), header.Get("Content-Length"))
			}
			return
		}
		var document struct {
			Type, Title, Detail string
			Status              int
		}
		err := json.Unmarshal(response.Body.Bytes(), &document)
		if err != nil || strconv.Itoa(response.Body.Len()) != header.Get("Content-Length") {
			t.Errorf("got the body %s with Content-Length %q (error: %v), want JSON of that length",
				response.Body, header.Get("Content-Length"), err)
		}
		if want := strings.ToValidUTF8(p.Detail, "\ufffd"); document.Detail != want || document.Status != status ||
			document.Type != "about:blank" || document.Title != http.StatusText(status) {
			t.Errorf("got %+v, want detail %q and status %d", document, want, status)
		}
	})
}
