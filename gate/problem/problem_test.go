package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever a problem says, a client gets a document with it that is no page and is kept for seconds at most, and not its
// cause.
func TestAProblemIsADocumentWithoutItsCause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(rapid.IntRange(400, 599).Draw(t, "status"), "%s", rapid.String().Draw(t, "detail"))
		after := rapid.SampledFrom([]time.Duration{0, 1, time.Second - 1, time.Second, 90*time.Second + 1}).Draw(t, "after")
		err := fmt.Errorf("serve: %w", p.Because(errors.New("the cause")).Retry(after))
		method := rapid.SampledFrom([]string{http.MethodGet, http.MethodHead, http.MethodPost}).Draw(t, "method")
		response := httptest.NewRecorder()
		Of(err).Write(response, httptest.NewRequest(method, "/a", nil))

		header, kept := response.Header(), "no-store"
		if p.Status == http.StatusNotFound {
			kept = "public, max-age=5"
		}
		if response.Code != p.Status || header.Get("Cache-Control") != kept ||
			header.Get("X-Content-Type-Options") != "nosniff" ||
			header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%d %v", response.Code, header)
		}
		if strings.Contains(response.Body.String(), "the cause") || !strings.Contains(err.Error(), "the cause") {
			t.Errorf("%s for %v", response.Body, err)
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
		err = json.Unmarshal(response.Body.Bytes(), &document)
		if err != nil || strconv.Itoa(response.Body.Len()) != header.Get("Content-Length") {
			t.Errorf("%s %v %v", response.Body, header, err)
		}
		if want := strings.ToValidUTF8(p.Detail, "\ufffd"); document.Detail != want || document.Status != p.Status ||
			document.Type != "about:blank" || document.Title != http.StatusText(p.Status) {
			t.Errorf("%+v for %+v", document, p)
		}
	})
}

func TestAnyOtherErrorIsInternal(t *testing.T) {
	secret := errors.New("key=secret")
	p := Of(secret)
	if p.Status != http.StatusInternalServerError || strings.Contains(p.Detail, "secret") || !errors.Is(p, secret) {
		t.Errorf("%+v", p)
	}
	if text := New(http.StatusNotFound, "no image").Error(); text != "no image" {
		t.Errorf("%q", text)
	}
}
