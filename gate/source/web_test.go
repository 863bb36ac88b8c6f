package source

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

func TestRedirectsAreFewAndNeverLeaveTLS(t *testing.T) {
	get := func(url string) *http.Request {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, test := range []struct {
		from, to string
		previous int
		followed bool
	}{
		{"https://a", "https://b", 1, true},
		{"http://a", "https://b", 1, true},
		{"http://a", "http://b", maxRedirects, true},
		{"https://a", "http://a", 1, false},
		{"http://a", "http://b", maxRedirects + 1, false},
	} {
		var previous []*http.Request
		for range test.previous {
			previous = append(previous, get(test.from))
		}
		if err := checkRedirect(get(test.to), previous); (err == nil) != test.followed {
			t.Errorf("from %s to %s after %d: %v", test.from, test.to, test.previous, err)
		}
	}
}

func TestRequestsNameTheirProxies(t *testing.T) {
	var header http.Header
	s := folder(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		w.Header().Set("Cache-Control", "max-age=5")
	})
	response, err := s.Open(t.Context(), Request{Path: "/a", Via: "other"})
	if err != nil || !response.Control.Bounded {
		t.Fatalf("%+v %v", response, err)
	}
	response.Body.Close()
	if via := header.Get(Loop); via != "other, this-gate" {
		t.Errorf("%v", header)
	}
}

// Caching rules are read from all header lines of every response that contains or confirms an original.
func TestASourceSaysWhatCountsAlsoWhenNothingHasChanged(t *testing.T) {
	for _, known := range []original.Validators{{}, {ETag: `"1"`}, {LastModified: "Thu, 01 Jan 1970 00:00:00 GMT"}} {
		s := folder(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Cache-Control"] = []string{"max-age=5", "private"}
			if r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "" {
				w.WriteHeader(http.StatusNotModified)
			}
		})
		response, err := s.Open(t.Context(), Request{Path: "/a", Known: known})
		if err != nil || response.Unchanged != (known != original.Validators{}) || !response.Control.NoStore ||
			response.Control.MaxAge != 5*time.Second {
			t.Fatalf("%+v: %+v %v", known, response, err)
		}
		response.Body.Close()
	}
}

// A CDN can be in front of both the gate and its source. It must not find its own name, but a gate must find its name.
func TestOfTheProxiesOfARequestOnlyGatesArePassedOn(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		gate := rapid.StringMatching(`darkroom-gate-[0-9a-f]{16}`)
		cdn := rapid.StringMatching(`[a-z.]{1,10}|gate-[0-9a-f]{16}`)
		lines := rapid.SliceOfN(rapid.SliceOfN(rapid.OneOf(gate, cdn), 0, 3), 0, 3).Draw(t, "lines")
		header, want := http.Header{}, []string(nil)
		for _, names := range lines {
			for i, name := range names {
				if strings.HasPrefix(name, "darkroom-gate-") {
					want = append(want, name)
				}
				names[i] += rapid.SampledFrom([]string{"", "; loops=1", `;x="a"`}).Draw(t, "parameters")
			}
			header.Add(Loop, strings.Join(names, rapid.SampledFrom([]string{",", ", "}).Draw(t, "separator")))
		}
		if got := Via(header); got != strings.Join(want, ", ") {
			t.Errorf("%q of %q", got, header)
		}
	})
}

// Compressed responses of a source, chunked or with a length, result in the same original. Truncated and oversized
// responses are refused.
func TestAnOriginalIsTheSameHoweverItIsSent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(rt, "original")
		sent, packed := body, rapid.Bool().Draw(rt, "compressed")
		if packed {
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			_, _ = w.Write(body)
			_ = w.Close()
			sent = out.Bytes()
		}
		chunked, cut := rapid.Bool().Draw(rt, "chunked"), rapid.IntRange(0, 3*len(sent)).Draw(rt, "cut")
		most := rapid.Int64Range(0, 3000).Draw(rt, "most")
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if packed {
				w.Header().Set("Content-Encoding", "gzip")
			}
			if !chunked {
				w.Header().Set("Content-Length", strconv.Itoa(len(sent)))
			}
			part := sent[:min(cut, len(sent))]
			_, _ = w.Write(part[:len(part)/2])
			_ = http.NewResponseController(w).Flush()
			if _, _ = w.Write(part[len(part)/2:]); len(part) < len(sent) {
				panic(http.ErrAbortHandler)
			}
		}))
		defer server.Close()
		s, err := New(Config{Kind: "webfolder", BaseURL: server.URL})
		if err != nil {
			rt.Fatal(err)
		}
		got, _, err := read(t, s, "/a", original.Validators{}, most)
		if whole := cut >= len(sent) && int64(len(body)) <= most; (err == nil) != whole || whole && !bytes.Equal(got, body) {
			rt.Errorf("%d bytes of %d, %v", len(got), len(body), err)
		}
	})
}

// A response with another status may contain the whole original. Retry-After is forwarded.
func TestStatusesOfASource(t *testing.T) {
	for _, test := range []struct {
		status      int
		name, value string
		want        problem.Kind
		retry       time.Duration
	}{
		{status: 203},
		{status: 206, name: "Content-Range", value: "bytes 0-3/4"},
		{status: 206, name: "Content-Range", value: "bytes 1-3/4", want: problem.UpstreamFailed, retry: retryAfter},
		{status: 206, name: "Content-Range", value: "bytes 0-3/*", want: problem.UpstreamFailed, retry: retryAfter},
		{status: 429, name: "Retry-After", value: "7", want: problem.SourceBusy, retry: 7 * time.Second},
		{status: 503, name: "Retry-After", value: "9999999", want: problem.SourceBusy, retry: time.Hour},
		{status: 503, want: problem.SourceBusy, retry: retryAfter},
		{status: 500, want: problem.UpstreamFailed, retry: retryAfter},
	} {
		s := folder(t, func(w http.ResponseWriter, _ *http.Request) {
			if test.name != "" {
				w.Header().Set(test.name, test.value)
			}
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte("body"))
		})
		body, _, err := read(t, s, "/a", original.Validators{}, 100)
		if err == nil && string(body) == "body" && test.want == "" {
			continue
		}
		if p := problem.Of(err); err == nil || p.Kind != test.want || p.RetryAfter != test.retry {
			t.Errorf("%+v: %q %v", test, body, err)
		}
	}
}

// Errors about credentials are not errors about the image, which may exist at the source. A missing or denied image is
// recognized in any wording.
func TestRefusedCredentialsAreNoAnswerAboutTheImage(t *testing.T) {
	credentials := []string{"InvalidAccessKeyId", "SignatureDoesNotMatch", "RequestTimeTooSkewed"}
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"s3", "gcs", "webfolder"}).Draw(rt, "kind")
		status := rapid.SampledFrom([]int{401, 403, 404, 410}).Draw(rt, "status")
		codes := append([]string{"", "AccessDenied"}, credentials...)
		if status != http.StatusForbidden {
			codes = append(codes, "NoSuchKey", "NoSuchVersion", "MethodNotAllowed")
		}
		code := rapid.SampledFrom(codes).Draw(rt, "code")
		body := rapid.SampledFrom([]string{"", "<html>", "not XML"}).Draw(rt, "body")
		if code != "" {
			body = `<?xml version="1.0"?><Error><Code>` + code + `</Code></Error>`
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"access_token":"t","token_type":"Bearer","expires_in":3600}`))
				return
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		defer server.Close()
		c := Config{
			Kind: kind, BaseURL: server.URL, Endpoint: server.URL,
			Bucket: "photos", Region: "eu-west-2", AccessKey: "key", SecretKey: "secret",
		}
		if kind == "gcs" {
			c.CredentialsJSON = serviceAccount(t, server.URL)
		}
		s, err := New(c)
		if err != nil {
			rt.Fatal(err)
		}
		_, _, err = read(t, s, "/a.jpg", original.Validators{}, 100)
		want := problem.Missing
		switch {
		case status > http.StatusForbidden:
		case kind != "webfolder" && (status == http.StatusUnauthorized || slices.Contains(credentials, code)):
			want = problem.CredentialsRefused
		default:
			want = problem.Forbidden
		}
		if !problem.Is(err, want) {
			rt.Errorf("%d %q: %v, want %s", status, body, err, want)
		}
	})
}
