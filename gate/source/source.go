// Package source reads originals from web servers and buckets.
package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// Source opens originals.
type Source interface {
	// Open requests an original. If it is the one that is known, the response has no body. All errors are
	// problems, except the errors of the context.
	Open(ctx context.Context, r Request) (*Response, error)
}

// Request is all that decides what a source responds.
type Request struct {
	Path string
	// Via has the names of the gates that the request came through.
	Via string
	// Known are the validators of the original that is known.
	Known original.Validators
}

// Config selects a source.
type Config struct {
	// Name of an additional source in messages and metrics; empty for the first source.
	Name string
	// Variables is the prefix of the variables that the source is configured with; empty means SOURCE_.
	Variables string
	// Path is that below which the source has the images; empty means all. StripPath removes it from what
	// the source is asked for.
	Path      string
	StripPath bool
	// Fallback is set for a source that is asked only for what those before it do not have.
	Fallback bool
	// PathPrefix restricts what the source is asked for. It is not stripped.
	PathPrefix string
	// Kind is one of those that Darkroom documents, in lower case.
	Kind string
	// BaseURL is the folder of a webfolder, or the URL of a cloudfront distribution.
	BaseURL string
	// Bucket and Region describe a bucket.
	Bucket, Region string
	// Endpoint is the URL of a service that is compatible with the service of the kind.
	Endpoint string
	// AccessKey and SecretKey are the credentials of s3.
	AccessKey, SecretKey string
	// CredentialsJSON is the key of a service account of gcs.
	CredentialsJSON string
	// WorkloadIdentity replaces credentials of s3 and gcs by the identity of the pod's ServiceAccount.
	WorkloadIdentity bool
	// Authorities are trusted for TLS; nil means the authorities of the system.
	Authorities *x509.CertPool
	// Gate is the name of the gate in Loop.
	Gate string
}

// GateOf returns the name by which the gates of some sources recognize their own requests (RFC 8586).
func GateOf(sources []Config) string {
	hash := sha256.New()
	for _, c := range sources {
		fmt.Fprint(hash, c.Kind, "\n", c.BaseURL, "\n", c.Endpoint, "\n", c.Bucket)
	}
	return "darkroom-gate-" + hex.EncodeToString(hash.Sum(nil)[:8])
}

var gateName = regexp.MustCompile(`darkroom-gate-[0-9a-f]{16}`)

// Loop is the header in which proxies name themselves.
const Loop = "CDN-Loop"

// Via returns the names of gates in the header Loop. They show each loop that leads through a gate. Names of
// others would only make a CDN that is both in front of the gate and before its source refuse the request.
func Via(header http.Header) string {
	return strings.Join(gateName.FindAllString(strings.Join(header.Values(Loop), ","), -1), ", ")
}

// New returns a source. Its errors name the variables that the gate is configured with.
func New(c Config) (Source, error) {
	switch c.Kind {
	case "webfolder":
		return newWeb("BASEURL", c.BaseURL, c)
	case "cloudfront":
		return newWeb("HOST", c.BaseURL, c)
	case "s3":
		return newS3(c)
	case "gcs", "googlecloudstorage":
		return newGCS(c)
	}
	return nil, c.invalid("KIND", "%q is not one of webfolder, cloudfront, s3, gcs", c.Kind)
}

// invalid returns an error that names the variable to correct.
func (c Config) invalid(variable, reason string, args ...any) error {
	return fmt.Errorf("environment variable %s%s: "+reason,
		append([]any{cmp.Or(c.Variables, "SOURCE_"), variable}, args...)...)
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
	// Control is what the source says about keeping it; if it says nothing of an unchanged original, what it has
	// said before counts.
	Control original.Control
}

const (
	// Timeout is the time for a response to begin, and then for its body.
	Timeout = 30 * time.Second
	// retryAfter is suggested to clients while the source fails.
	retryAfter = 10 * time.Second
)

// maxRetryAfter bounds the time for which a source may ask clients to stay away.
const maxRetryAfter = time.Hour

// statusProblem returns the problem for the response of a source, or nil for one that has the whole original.
func statusProblem(response *http.Response) *problem.Problem {
	switch status := response.StatusCode; status {
	case http.StatusOK, http.StatusNonAuthoritativeInfo:
		return nil
	case http.StatusPartialContent:
		if isWhole(response.Header.Get("Content-Range")) {
			return nil
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		after, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil {
			after = int(retryAfter / time.Second)
		}
		return problem.New(problem.SourceBusy, "the source is busy; it responded with status %d", status).
			Retry(min(max(time.Duration(after), 1), maxRetryAfter/time.Second) * time.Second)
	case http.StatusNotFound, http.StatusGone:
		return problem.New(problem.Missing, "the source has no image at this path")
	case http.StatusUnauthorized, http.StatusForbidden:
		return problem.New(problem.Forbidden, "the source denies access to this image")
	}
	return problem.New(problem.UpstreamFailed, "the source responded with status %d", response.StatusCode).
		Retry(retryAfter)
}

// isWhole reports whether a range is all of what it is a part of.
func isWhole(contentRange string) bool {
	var last, length int64
	n, err := fmt.Sscanf(contentRange, "bytes 0-%d/%d", &last, &length)
	return n == 2 && err == nil && last == length-1
}

// Failure returns the problem for a request or a body that failed.
func Failure(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, errForbidden):
		return problem.New(problem.UpstreamFailed, "the source is at an address that is not allowed").Because(err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return problem.New(problem.TimedOut, "the source did not respond in time").Because(err).Retry(retryAfter)
	}
	return problem.New(problem.UpstreamFailed, "the source cannot be reached or ended the response early").
		Because(err).Retry(retryAfter)
}

// Read reads the body of a response, at most maxBytes. One of unknown length takes up to twice its memory.
func (r *Response) Read(maxBytes int64) ([]byte, error) {
	tooLarge := problem.New(problem.TooLarge, "the original exceeds %d bytes", maxBytes)
	if r.Length > maxBytes {
		return nil, tooLarge
	}
	if r.Length >= 0 {
		body := make([]byte, r.Length)
		if _, err := io.ReadFull(r.Body, body); err != nil {
			return nil, Failure(err)
		}
		return body, nil
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, min(max(2*cap(body), 4<<10), int(maxBytes)+1)), body...)
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > maxBytes:
			return nil, tooLarge
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, Failure(err)
		}
	}
}
