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
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// Source opens originals.
type Source interface {
	// Open requests an original. If the known original is unchanged, the response has no body. All errors are
	// problems, except errors of the context.
	Open(ctx context.Context, r Request) (*Response, error)
}

// Request contains everything that determines the response of a source.
type Request struct {
	Path string
	// Via contains the names of the gates that forwarded the request.
	Via string
	// Known contains the validators of the original that the gate has; empty if it has none.
	Known original.Validators
}

// Config configures a source.
type Config struct {
	// Name of an additional source in messages and metrics; empty for the first source.
	Name string
	// Variables is the prefix of the environment variables of the source; empty means SOURCE_.
	Variables string
	// Path is the path below which the source has images; empty means all. StripPath removes it from requests to the
	// source.
	Path      string
	StripPath bool
	// Fallback is set for a source that is used only for images that the sources before it do not have.
	Fallback bool
	// PathPrefix restricts the paths that are requested from the source. It is not stripped.
	PathPrefix string
	// Kind is one of Darkroom's kinds, in lower case.
	Kind string
	// BaseURL is the folder of a webfolder, or the URL of a cloudfront distribution.
	BaseURL string
	// Bucket and Region describe a bucket.
	Bucket, Region string
	// Endpoint is the URL of a compatible service.
	Endpoint string
	// AccessKey and SecretKey are the credentials for s3.
	AccessKey, SecretKey string
	// CredentialsJSON is the key of a service account for gcs.
	CredentialsJSON string
	// WorkloadIdentity uses the identity of the pod's ServiceAccount instead of credentials for s3 and gcs.
	WorkloadIdentity bool
	// Authorities are trusted for TLS; nil means the authorities of the system.
	Authorities *x509.CertPool
	// Gate is the name of the gate in Loop.
	Gate string
}

// GateOf returns the name by which gates with these sources recognize their own requests (RFC 8586).
func GateOf(sources []Config) string {
	hash := sha256.New()
	for _, c := range sources {
		fmt.Fprint(hash, c.Kind, "\n", c.BaseURL, "\n", c.Endpoint, "\n", c.Bucket)
	}
	return "darkroom-gate-" + hex.EncodeToString(hash.Sum(nil)[:8])
}

var gateName = regexp.MustCompile(`darkroom-gate-[0-9a-f]{16}`)

// Loop is the header in which proxies add their names.
const Loop = "CDN-Loop"

// Via returns the names of gates in the header Loop, by which every loop through a gate is detected. Names of other
// proxies are dropped, because a CDN that is in front of both the gate and its source would refuse the request.
func Via(header http.Header) string {
	return strings.Join(gateName.FindAllString(strings.Join(header.Values(Loop), ","), -1), ", ")
}

// New returns a source. Errors name the environment variables.
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

// Response is the response of a source. Its body must be closed.
type Response struct {
	// Unchanged is set if the known validators are still valid.
	Unchanged bool
	Body      io.ReadCloser
	// Length of the body according to the source; -1 if unknown.
	Length int64
	// Validators of the original.
	Validators original.Validators
	// Control contains the caching rules of the source. If they are missing for an unchanged original, the previous
	// rules apply.
	Control original.Control
}

// Timeout limits the time until a response starts, and then the time to read its body.
const Timeout = 30 * time.Second

// Read reads the body of a response, up to maxBytes. A body of unknown length needs up to twice its size in memory.
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
