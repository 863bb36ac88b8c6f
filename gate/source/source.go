// Package source reads originals from web servers and buckets.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// Source opens originals.
type Source interface {
	// Open requests the original of a path. If it is unchanged since known, the response
	// has no body. All errors are problems, except those of the context.
	Open(ctx context.Context, path string, known original.Validators) (*Response, error)
}

// Response is the answer of a source. Its body must be closed.
type Response struct {
	// Unchanged reports that the original is the one of the known validators.
	Unchanged bool
	Body      io.ReadCloser
	// Length of the body according to the source; -1 if unknown.
	Length int64
	// Validators of the original.
	Validators original.Validators
}

const (
	connectTimeout = 5 * time.Second
	// headerTimeout is the time for the headers of a response.
	headerTimeout = 10 * time.Second
	// ReadTimeout is the time for the body of a response.
	ReadTimeout = 30 * time.Second
	// retryAfter is suggested to clients while the source fails.
	retryAfter = 10 * time.Second
)

// newTransport returns a transport that never connects to forbidden addresses. Responses are
// not decompressed, because the size of the result would be unknown.
func newTransport(guard guard) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: guard.control}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        time.Minute,
		DisableCompression:     true,
	}
}

const maxRedirects = 5

// checkRedirect follows a few redirects, never from HTTPS to HTTP.
func checkRedirect(next *http.Request, previous []*http.Request) error {
	if len(previous) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if previous[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("redirect from https to http")
	}
	return nil
}

// statusProblem returns the problem for a status of the source, or nil for 200.
func statusProblem(status int) error {
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusNotFound, http.StatusGone:
		return problem.New(http.StatusNotFound, "the source has no image at this path")
	case http.StatusUnauthorized, http.StatusForbidden:
		return problem.New(http.StatusForbidden, "the source denies access to this image")
	}
	return problem.New(http.StatusBadGateway, "the source responded with status %d", status).Retry(retryAfter)
}

// Failure returns the problem for a request or a body that failed.
func Failure(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, errForbidden):
		return problem.New(http.StatusBadGateway, "the source is at an address that is not allowed").Because(err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return problem.New(http.StatusGatewayTimeout, "the source did not respond in time").Because(err).Retry(retryAfter)
	}
	return problem.New(http.StatusBadGateway, "the source cannot be reached or ended the response early").Because(err).Retry(retryAfter)
}

// getter sends conditional GET requests.
type getter struct {
	client *http.Client
	// authorize adds credentials; may be nil.
	authorize func(*http.Request) error
}

func newGetter(trusted *url.URL) getter {
	return getter{client: &http.Client{Transport: newTransport(newGuard(trusted)), CheckRedirect: checkRedirect}}
}

func (g getter) get(ctx context.Context, target *url.URL, known original.Validators) (*Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, problem.New(http.StatusBadRequest, "the path cannot be requested from the source").Because(err)
	}
	request.Header.Set("User-Agent", "darkroom-gate")
	request.Header.Set("Accept", "image/*")
	if known.ETag != "" {
		request.Header.Set("If-None-Match", known.ETag)
	}
	if known.LastModified != "" {
		request.Header.Set("If-Modified-Since", known.LastModified)
	}
	if g.authorize != nil {
		if err := g.authorize(request); err != nil {
			return nil, problem.New(http.StatusBadGateway, "the gate cannot authenticate at the source").Because(err).Retry(retryAfter)
		}
	}
	response, err := g.client.Do(request)
	if err != nil {
		return nil, Failure(err)
	}
	validators := original.Validators{ETag: response.Header.Get("ETag"), LastModified: response.Header.Get("Last-Modified")}
	if response.StatusCode == http.StatusNotModified && known != (original.Validators{}) {
		response.Body.Close()
		return &Response{Unchanged: true, Body: http.NoBody, Validators: known}, nil
	}
	if err := statusProblem(response.StatusCode); err != nil {
		response.Body.Close()
		return nil, err
	}
	return &Response{Body: response.Body, Length: response.ContentLength, Validators: validators}, nil
}
