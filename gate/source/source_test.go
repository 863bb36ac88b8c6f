package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

func serveFolder(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func folder(t *testing.T, handler http.HandlerFunc) Source {
	t.Helper()
	s, err := New(Config{Kind: "webfolder", BaseURL: serveFolder(t, handler).URL + "/base/", Gate: "this-gate"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, s Source, path string, known original.Validators, most int64) ([]byte, *Response, error) {
	t.Helper()
	response, err := s.Open(t.Context(), Request{Path: path, Known: known})
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := response.Read(most)
	return body, response, err
}

func TestAWebFolderIsReadBelowItsBaseURL(t *testing.T) {
	s := folder(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		_, _ = w.Write([]byte(r.URL.EscapedPath()))
	})
	body, response, err := read(t, s, "/é ?.jpg", original.Validators{}, 100)
	if want := "/base/%C3%A9%20%3F.jpg"; err != nil || string(body) != want || response.Validators.ETag != `"1"` {
		t.Errorf("%q %+v %v, want %q", body, response, err, want)
	}
}

func TestAnUnchangedOriginalIsNotRead(t *testing.T) {
	s := folder(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"1"` || r.Header.Get("If-Modified-Since") == "Mon" {
			w.WriteHeader(http.StatusNotModified)
		}
	})
	for _, known := range []original.Validators{{ETag: `"1"`}, {LastModified: "Mon"}} {
		if _, response, err := read(t, s, "/a", known, 1); err != nil || !response.Unchanged || response.Validators != known {
			t.Errorf("%+v: %+v %v", known, response, err)
		}
	}
	if _, response, err := read(t, s, "/a", original.Validators{ETag: `"2"`}, 1); err != nil || response.Unchanged {
		t.Errorf("%+v %v", response, err)
	}
}

func TestFailuresOfTheSourceHaveAKind(t *testing.T) {
	hijack := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = connection.Write([]byte(answer))
				_ = connection.Close()
			}
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		kind    problem.Kind
	}{
		"missing":                      {status(404), problem.Missing},
		"gone":                         {status(410), problem.Missing},
		"denied":                       {status(403), problem.Forbidden},
		"not authenticated":            {status(401), problem.Forbidden},
		"broken":                       {status(500), problem.UpstreamFailed},
		"rate limited":                 {status(429), problem.SourceBusy},
		"not modified without request": {status(304), problem.UpstreamFailed},
		"too large": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 101)) },
			problem.TooLarge,
		},
		"too large without a length": {func(w http.ResponseWriter, _ *http.Request) {
			for range 101 {
				_, _ = w.Write([]byte{1})
				_ = http.NewResponseController(w).Flush()
			}
		}, problem.TooLarge},
		"truncated":            {hijack("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc"), problem.UpstreamFailed},
		"nonsense":             {hijack("hello"), problem.UpstreamFailed},
		"redirect to metadata": {redirect("http://169.254.169.254/latest/meta-data/"), problem.UpstreamFailed},
		"redirect to mapped":   {redirect("http://[::ffff:169.254.169.254]/"), problem.UpstreamFailed},
		"redirect to NAT64":    {redirect("http://[64:ff9b::a9fe:a9fe]/"), problem.UpstreamFailed},
		"redirect to a file":   {redirect("file:///etc/passwd"), problem.UpstreamFailed},
		"endless redirects":    {redirect("/again"), problem.UpstreamFailed},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read(t, folder(t, test.handler), "/a.jpg", original.Validators{}, 100)
			if !problem.Is(err, test.kind) {
				t.Errorf("%v, want %s", err, test.kind)
			} else if strings.HasPrefix(name, "redirect to m") && !errors.Is(err, errForbidden) {
				t.Errorf("connected: %v", err)
			}
		})
	}
}

func TestASourceWithoutAListenerHasFailed(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	s, _ := New(Config{Kind: "webfolder", BaseURL: server.URL})
	_, _, err := read(t, s, "/a", original.Validators{}, 1)
	if !problem.Is(err, problem.UpstreamFailed) || problem.Of(err).RetryAfter == 0 {
		t.Errorf("%v", err)
	}
}

func TestASourceThatDoesNotRespondIs504(t *testing.T) {
	if testing.Short() {
		t.Skip("waits ten seconds")
	}
	t.Parallel()
	s := folder(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if _, _, err := read(t, s, "/a.jpg", original.Validators{}, 100); !problem.Is(err, problem.TimedOut) {
		t.Errorf("%v", err)
	}
}

func TestTimeoutsAre504(t *testing.T) {
	if p := problem.Of(Failure(fmt.Errorf("read: %w", context.DeadlineExceeded))); p.Kind != problem.TimedOut || p.RetryAfter == 0 {
		t.Errorf("%+v", p)
	}
}

func TestForbiddenAddresses(t *testing.T) {
	for _, address := range []string{
		"169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "0.0.0.0",
		"224.0.0.1", "255.255.255.255",
		"127.0.0.1", "::1", "::", "fe80::1%eth0", "ff02::1", "fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe",
		"::ffff:169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::6464:64c8",
		"2002:a83f:8110::1", "::169.254.169.254",
		"::ffff:0:169.254.169.254",
	} {
		if !(guard{}).refuses(netip.MustParseAddr(address)) {
			t.Errorf("%s is allowed", address)
		}
	}
	for _, address := range []string{
		"10.0.0.1", "192.168.1.1", "100.64.0.1", "93.184.216.34", "2606:2800:220:1::1",
		"fd12:3456::1", "64:ff9b::5db8:d822",
	} {
		if (guard{}).refuses(netip.MustParseAddr(address)) {
			t.Errorf("%s is refused", address)
		}
	}
}

func TestLoopbackIsAllowedOnlyForSourcesThatAreConfiguredWithIt(t *testing.T) {
	address := netip.MustParseAddr("127.0.0.1")
	for text, refused := range map[string]bool{
		"http://127.0.0.1:80": false, "http://[::1]": false,
		"http://localhost": true, "http://example.com": true,
	} {
		u, _ := url.Parse(text)
		if got := newGuard(u).refuses(address); got != refused {
			t.Errorf("%s: refused %v", text, got)
		}
	}
}
