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
)

func kinds() []problem.Kind { return append(slices.Sorted(maps.Keys(statuses)), problem.Internal) }

func TestTheStatusShowsWhetherARetryMayHelp(t *testing.T) {
	for _, kind := range kinds() {
		if status := statusOf(kind); kind.IsFailure() != (status >= http.StatusInternalServerError) {
			t.Errorf("%s: %d", kind, status)
		}
	}
}

// For any problem, a client gets a document that is not a web page, is stored for seconds at most, and does not
// contain the cause.
func TestAProblemIsADocumentWithoutItsCause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problem.New(rapid.SampledFrom(kinds()).Draw(t, "kind"), "%s", rapid.String().Draw(t, "detail"))
		after := rapid.SampledFrom([]time.Duration{0, 1, time.Second - 1, time.Second, 90*time.Second + 1}).Draw(t, "after")
		method := rapid.SampledFrom([]string{http.MethodGet, http.MethodHead, http.MethodPost}).Draw(t, "method")
		response := httptest.NewRecorder()
		sendProblem(response, httptest.NewRequest(method, "/a", nil), p.Because(errors.New("the cause")).Retry(after))

		header, kept := response.Header(), "no-store"
		if p.Kind == problem.Missing {
			kept = "public, max-age=5"
		}
		status := statusOf(p.Kind)
		if response.Code != status || header.Get("Cache-Control") != kept ||
			header.Get("X-Content-Type-Options") != "nosniff" ||
			header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%d %v", response.Code, header)
		}
		if strings.Contains(response.Body.String(), "the cause") {
			t.Errorf("%s", response.Body)
		}
		var wait string
		if after > 0 {
			wait = strconv.Itoa(int(max(after, time.Second).Seconds()))
		}
		if header.Get("Retry-After") != wait {
			t.Errorf("Retry-After %q, want %q", header.Get("Retry-After"), wait)
		}
		if method == http.MethodHead {
			if response.Body.Len() > 0 || header.Get("Content-Length") == "0" {
				t.Errorf("%d bytes, with the header %v", response.Body.Len(), header)
			}
			return
		}
		var document struct {
			Type, Title, Detail string
			Status              int
		}
		err := json.Unmarshal(response.Body.Bytes(), &document)
		if err != nil || strconv.Itoa(response.Body.Len()) != header.Get("Content-Length") {
			t.Errorf("%s %v %v", response.Body, header, err)
		}
		if want := strings.ToValidUTF8(p.Detail, "\ufffd"); document.Detail != want || document.Status != status ||
			document.Type != "about:blank" || document.Title != http.StatusText(status) {
			t.Errorf("%+v for %+v", document, p)
		}
	})
}
