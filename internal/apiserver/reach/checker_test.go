package reach

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func none(*http.Request) (*url.URL, error) { return nil, nil }

// onlyLinkLocal allows the loopback addresses that test servers listen at.
func onlyLinkLocal(address netip.Addr) bool { return !address.IsLoopback() && IsRefused(address) }

// newTestChecker returns a checker that may connect to test servers.
func newTestChecker(change ...func(*Options)) *Checker {
	options := Options{Refuses: onlyLinkLocal, Proxy: none, Timeout: 20 * time.Second}
	for _, each := range change {
		each(&options)
	}
	return New(options)
}

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	out, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// check checks a URL, and compares the result.
func check(t *testing.T, c *Checker, target string, isImage bool, want Result) {
	t.Helper()
	if got := c.Check(t.Context(), parse(t, target), isImage); got != want {
		t.Errorf("%s: %+v, want %+v", target, got, want)
	}
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func TestResponsesAreClassified(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cat.jpg":
		case "/old.jpg":
			http.Redirect(w, r, "/cat.jpg", http.StatusMovedPermanently)
		case "/elsewhere.jpg":
			http.Redirect(w, r, "http://other.example.com/cat.jpg", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})
	c := newTestChecker()
	check(t, c, server.URL+"/", false, Result{Reachable, Answered, 0})
	check(t, c, server.URL+"/cat.jpg", true, Result{Reachable, ImageServed, 0})
	check(t, c, server.URL+"/old.jpg", true, Result{Reachable, ImageServed, 0})
	check(t, c, server.URL+"/elsewhere.jpg", true, Result{Reachable, Redirected, 0})
	check(t, c, server.URL+"/dog.jpg", true, Result{Unreachable, HTTPStatus, 404})
}

func TestFailuresAreClassified(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	silent := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = nil
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())

	c := newTestChecker()
	check(t, c, closed, false, Result{Unreachable, ConnectionRefused, 0})
	check(t, c, "http://nothing.invalid", false, Result{Unreachable, NameNotFound, 0})
	check(t, c, secure.URL, false, Result{Unreachable, Certificate, 0})
	check(t, c, strings.Replace(secure.URL, "https", "http", 1)+"/cat.jpg", true, Result{Unreachable, HTTPStatus, 400})
	check(t, newTestChecker(func(o *Options) { o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots} }), secure.URL, false, Result{Reachable, Answered, 0})
	check(t, newTestChecker(func(o *Options) { o.Timeout = 50 * time.Millisecond }), silent.URL, false, Result{Unreachable, Timeout, 0})
}

// TestAddressIsCheckedWhenConnecting uses names and forms of addresses that lead to this
// machine or to metadata services.
func TestAddressIsCheckedWhenConnecting(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{Proxy: none})
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]"} {
		check(t, c, "http://"+host+":"+port, false, Result{NotChecked, Address, 0})
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

func TestRedirectsDoNotLeadToRefusedAddresses(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	inner := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	_, port, err := net.SplitHostPort(inner.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"http://169.254.169.254/latest/meta-data", "http://localhost:" + port, "http://127.0.0.2:" + port} {
		outer := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
		check(t, newTestChecker(), outer.URL, false, Result{Reachable, Answered, 0})
		check(t, newTestChecker(), outer.URL, true, Result{Reachable, Redirected, 0})
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
	// Redirects at the same host are followed a few times.
	var rounds atomic.Int32
	loop := serve(t, func(w http.ResponseWriter, r *http.Request) {
		rounds.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	check(t, newTestChecker(), loop.URL, true, Result{Reachable, Redirected, 0})
	if n := rounds.Load(); n != maxRedirects+1 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestRequestsCarryNothing(t *testing.T) {
	t.Parallel()
	header := make(chan http.Header, 1)
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) { header <- r.Header })
	check(t, newTestChecker(), strings.Replace(server.URL, "http://", "http://user:canary@", 1), false, Result{Reachable, Answered, 0})
	for name := range <-header {
		if name != "User-Agent" && name != "Connection" {
			t.Errorf("the request has the header %s", name)
		}
	}
}

func TestBodiesAreNotRead(t *testing.T) {
	t.Parallel()
	ended := make(chan int, 1)
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk, n := make([]byte, 64<<10), 0
		for {
			written, err := w.Write(chunk)
			if n += written; err != nil || n > 1<<30 {
				ended <- n
				return
			}
		}
	})
	check(t, newTestChecker(), server.URL, false, Result{Reachable, Answered, 0})
	if n := <-ended; n > 64<<20 {
		t.Errorf("%d bytes were sent", n)
	}
}

func TestProxiesAreUsed(t *testing.T) {
	t.Parallel()
	var asked []string
	status := http.StatusOK
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		w.WriteHeader(status)
	})
	c := New(Options{Proxy: http.ProxyURL(parse(t, proxy.URL))})
	check(t, c, "http://nothing.invalid/cat.jpg", true, Result{Reachable, ImageServed, 0})
	check(t, c, "http://169.254.169.254/", false, Result{NotChecked, Address, 0})
	check(t, c, "http://localhost/", false, Result{NotChecked, Address, 0})
	status = http.StatusBadGateway
	check(t, c, "http://nothing.invalid/", false, Result{NotChecked, Proxy, 0})
	if len(asked) != 2 {
		t.Errorf("the proxy was asked for %q", asked)
	}
}
