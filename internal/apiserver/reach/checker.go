package reach

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

const (
	// defaultTimeout bounds a check: resolving the name, connecting and waiting for the
	// header of the response.
	defaultTimeout = 3 * time.Second
	// maxRedirects bounds redirects at the same host name.
	maxRedirects = 3
	// maxHeader bounds the header of a response, in bytes.
	maxHeader = 16 << 10
	userAgent = "darkroom-operator-apiserver"
)

// Options configure a Checker. The zero value is valid.
type Options struct {
	// Refuses reports whether an address must not be connected to. Nil means IsRefused.
	Refuses func(netip.Addr) bool
	// Proxy returns the proxy of a request, or nil. Nil means that of the environment.
	Proxy func(*http.Request) (*url.URL, error)
	// Timeout bounds a check. 0 means 3 s.
	Timeout time.Duration
	// TLS is the configuration of TLS. Nil means the certificates of the system.
	TLS *tls.Config
}

// Checker checks whether URLs answer. Make it with New.
type Checker struct {
	options Options
	// direct connects to allowed addresses only. proxied connects to the proxy.
	direct, proxied *http.Client
}

// New returns a Checker.
func New(options Options) *Checker {
	if options.Refuses == nil {
		options.Refuses = IsRefused
	}
	if options.Proxy == nil {
		options.Proxy = http.ProxyFromEnvironment
	}
	if options.Timeout == 0 {
		options.Timeout = defaultTimeout
	}
	c := &Checker{options: options}
	c.direct = c.client(&net.Dialer{Control: c.control}, nil)
	c.proxied = c.client(&net.Dialer{}, options.Proxy)
	return c
}

// client returns a client that sends nothing but the request, and keeps no connection.
func (c *Checker) client(dialer *net.Dialer, proxy func(*http.Request) (*url.URL, error)) *http.Client {
	return &http.Client{
		CheckRedirect: stayAtHost,
		Transport: &http.Transport{
			Proxy:                  proxy,
			DialContext:            dialer.DialContext,
			TLSClientConfig:        c.options.TLS,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
		},
	}
}

// control refuses a connection by its address. It runs after the name was resolved, for each
// of its addresses.
func (c *Checker) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || c.options.Refuses(at.Addr()) {
		return errRefused
	}
	return nil
}

// stayAtHost follows redirects at the same host name only.
func stayAtHost(request *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects || request.URL.Hostname() != before[0].URL.Hostname() {
		return http.ErrUseLastResponse
	}
	return nil
}

// Check requests a URL with GET. The URL of an image must return it; any response of
// another URL will do.
func (c *Checker) Check(ctx context.Context, target *url.URL, isImage bool) Result {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	// A copy without user and password, which Go would send.
	plain := *target
	plain.User = nil
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, plain.String(), nil)
	if err != nil {
		return Result{NotChecked, Address, 0}
	}
	request.Header.Set("User-Agent", userAgent)
	proxy, err := c.options.Proxy(request)
	switch {
	case err != nil:
		return Result{NotChecked, Proxy, 0}
	case proxy == nil:
		return judge(c.send(c.direct, request, isImage))
	case c.mayReachRefused(ctx, plain.Hostname()):
		return Result{NotChecked, Address, 0}
	}
	return judgeProxied(c.send(c.proxied, request, isImage))
}

// mayReachRefused reports whether a proxy would connect to a refused address, as far as this
// server resolves names like the proxy. Names that only the proxy resolves are left to it.
func (c *Checker) mayReachRefused(ctx context.Context, host string) bool {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return false
	}
	for _, address := range addresses {
		if c.options.Refuses(address) {
			return true
		}
	}
	return false
}

// response is what is used of a response.
type response struct {
	status  int
	isImage bool
	err     error
}

// send sends a request, and closes the response without reading its body.
func (c *Checker) send(client *http.Client, request *http.Request, isImage bool) response {
	answer, err := client.Do(request)
	if err != nil {
		return response{err: err}
	}
	answer.Body.Close()
	return response{status: answer.StatusCode, isImage: isImage}
}
