package controller

import (
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// requestTimeout limits the duration of each request other than a watch, including its response. The API server itself
// allows a minute.
const requestTimeout = 20 * time.Second

// BoundRequests sets a timeout for every request except watches, so that a request that hangs does not block a worker.
// rest.Config.Timeout would also end watches.
func BoundRequests(kubeconfig *rest.Config) {
	kubeconfig.Wrap(func(next http.RoundTripper) http.RoundTripper { return bounded{next, requestTimeout} })
}

type bounded struct {
	next    http.RoundTripper
	timeout time.Duration
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("watch") != "" {
		return b.next.RoundTrip(request)
	}
	ctx, cancel := context.WithTimeout(request.Context(), b.timeout)
	response, err := b.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = endingBody{response.Body, cancel}
	return response, nil
}

// endingBody releases the timer of a request when the response body is closed.
type endingBody struct {
	io.ReadCloser

	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b endingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
