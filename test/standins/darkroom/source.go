package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxOriginal limits the bytes that are read of one original.
const maxOriginal = 64 << 20

// source fetches the original at a path. An error may be a *sourceError, whose status is passed on; any other error
// results in 422.
type source func(ctx context.Context, path string) ([]byte, error)

type sourceError struct {
	status int
	err    error
}

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// statusOf returns the HTTP status of the response to a failed fetch.
func statusOf(err error) int {
	var failure *sourceError
	if errors.As(err, &failure) {
		return failure.status
	}
	return http.StatusUnprocessableEntity
}

// newSource fails only where Darkroom refuses to start. With a source that is set but not usable, it starts, responds
// to /ping, and fails every image. It accepts the documented spellings of kinds. The real Darkroom also accepts
// anything that starts with aws or gcs or ends in s3; a test must not.
func newSource(c config) (source, error) {
	switch c.kind {
	case "webfolder":
		return webFolder(c.baseURL), nil
	case "cloudfront":
		return cloudFront(c.host, c.secureProtocol), nil
	case "s3", "aws":
		return c.bucket.get, nil
	case "gcs", "googlecloudstorage":
		if key := c.bucket.credentialsJSON; key != "" && !json.Valid([]byte(key)) {
			return nil, errors.New("read SOURCE_BUCKET_CREDENTIALSJSON: not JSON")
		}
		return func(context.Context, string) ([]byte, error) {
			return nil, errors.New("the stand-in does not read Google Cloud Storage")
		}, nil
	}
	return nil, errors.New("handler dependencies are not valid")
}

// webFolder joins base URL and path unchanged, so a base URL with a trailing
// slash requests `//images/…`. The status of the response is ignored: the body of
// a 404 is treated as the image.
func webFolder(baseURL string) source {
	return func(ctx context.Context, path string) ([]byte, error) {
		body, _, err := fetch(ctx, baseURL+path)
		return body, err
	}
}

func cloudFront(host string, secure bool) source {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	return func(ctx context.Context, path string) ([]byte, error) {
		if host == "" {
			panic(http.ErrAbortHandler) // Darkroom panics here: the caller sees a closed connection.
		}
		body, status, err := fetch(ctx, scheme+"://"+strings.TrimSuffix(host, "/")+path)
		if err == nil && status == http.StatusForbidden {
			return nil, &sourceError{status: status, err: errors.New("forbidden")}
		}
		return body, err
	}
}

func fetch(ctx context.Context, url string) (body []byte, status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("request %q: %w", url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, 0, fmt.Errorf("fetch original: %w", err)
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxOriginal))
	if err != nil {
		return nil, 0, fmt.Errorf("read original %q: %w", url, err)
	}
	if response.StatusCode >= http.StatusInternalServerError {
		return nil, response.StatusCode, fmt.Errorf("fetch original: status %d", response.StatusCode)
	}
	return body, response.StatusCode, nil
}
