package source

import (
	"context"
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

const (
	connectTimeout = 5 * time.Second
	headerTimeout  = 10 * time.Second
	maxRedirects   = 5
)

// web reads originals below a URL of a web server, a CloudFront distribution, or a bucket.
type web struct {
	base   *url.URL
	client *http.Client
	// id is the name of the gate in the header Loop.
	id string
	// authorize adds credentials; nil if there are none.
	authorize func(*http.Request) error
}

// newWeb returns a source below the URL in a variable, which must be absolute, and the bucket, which may be empty.
func newWeb(variable, baseURL string, c Config) (*web, error) {
	base, err := url.Parse(baseURL)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return nil, c.invalid(variable, "must be an absolute http or https URL")
	}
	client := &http.Client{Transport: newTransport(c, newGuard(base)), CheckRedirect: checkRedirect}
	base.Path, base.RawPath = strings.TrimSuffix(base.Path, "/")+"/"+c.Bucket, ""
	return &web{base: base, client: client, id: c.Gate}, nil
}

// newTransport returns a transport that refuses forbidden addresses. It decompresses responses, because some sources
// store and send compressed drawings.
func newTransport(c Config, g guard) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: connectTimeout, ControlContext: g.control}).DialContext
	transport.TLSClientConfig = &tls.Config{RootCAs: c.Authorities}
	transport.ResponseHeaderTimeout = headerTimeout
	transport.MaxResponseHeaderBytes = 64 << 10
	transport.MaxIdleConnsPerHost = 64
	return transport
}

// checkRedirect follows a few redirects, but never from HTTPS to HTTP.
func checkRedirect(next *http.Request, previous []*http.Request) error {
	if len(previous) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if previous[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("redirect from https to http")
	}
	return nil
}

// stay refuses redirects.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (w *web) Open(ctx context.Context, r Request) (*Response, error) {
	target := *w.base
	target.Path = strings.TrimSuffix(target.Path, "/") + r.Path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, problem.New(problem.Invalid, "the path cannot be requested from the source").Because(err)
	}
	for name, value := range map[string]string{
		"User-Agent": "darkroom-gate", "Accept": "image/*", "If-None-Match": r.Known.ETag,
		"If-Modified-Since": r.Known.LastModified,
	} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	client := *w.client
	if w.authorize != nil {
		if err := w.authorize(request); err != nil {
			return nil, problem.New(problem.UpstreamFailed, "the gate cannot authenticate at the source").
				Because(err).Retry(retryAfter)
		}
		client.CheckRedirect = stay // do not send credentials to another host
	}
	// The header is not signed, because proxies before the source add their names to it.
	request.Header.Set(Loop, strings.TrimPrefix(r.Via+", "+w.id, ", "))
	response, err := client.Do(request)
	if err != nil {
		return nil, Failure(err)
	}
	control := original.ParseControl(response.Header, time.Now())
	if response.StatusCode == http.StatusNotModified && r.Known != (original.Validators{}) {
		response.Body.Close()
		return &Response{Unchanged: true, Body: http.NoBody, Validators: r.Known, Control: control}, nil
	}
	if err := problemOfStatus(response); err != nil {
		defer response.Body.Close()
		if w.authorize != nil && refusesCredentials(response) {
			err.Kind = problem.CredentialsRefused
		}
		return nil, err
	}
	return &Response{
		Body: response.Body, Length: response.ContentLength, Control: control,
		Validators: original.Validators{
			ETag:         response.Header.Get("ETag"),
			LastModified: response.Header.Get("Last-Modified"),
		},
	}, nil
}

// refusesCredentials reports whether a response rejects the credentials or the clock of the gate. S3 returns this as
// a code in the body of a 403, like other errors, such as NoSuchKey.
func refusesCredentials(response *http.Response) bool {
	if response.StatusCode != http.StatusForbidden {
		return response.StatusCode == http.StatusUnauthorized
	}
	var refusal struct{ Code string }
	_ = xml.NewDecoder(io.LimitReader(response.Body, 16<<10)).Decode(&refusal)
	return refusal.Code != "" && refusal.Code != "AccessDenied"
}
