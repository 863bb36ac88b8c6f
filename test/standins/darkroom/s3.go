package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// emptyHash is the SHA-256 of no body.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// get reads a bucket of S3 with static keys; other credentials, including the AWS_* variables, are ignored. A missing
// setting fails the image instead of the start. The status of S3's response is passed on. If there was no response, the
// status is 422.
func (c bucketConfig) get(ctx context.Context, path string) ([]byte, error) {
	object, err := objectURL(c, path)
	if err != nil {
		return nil, fmt.Errorf("read bucket %q: %w", c.name, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, object.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("read bucket %q: %w", c.name, err)
	}
	request.Header.Set("X-Amz-Content-Sha256", emptyHash)
	// Only S3 signs the path as it is sent, escaped once.
	err = v4.NewSigner().SignHTTP(ctx, aws.Credentials{AccessKeyID: c.accessKey, SecretAccessKey: c.secretKey}, request,
		emptyHash, "s3", c.region, time.Now(), func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		return nil, fmt.Errorf("sign the request of %s: %w", path, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("get %s of bucket %q: %w", path, c.name, err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return nil, &sourceError{response.StatusCode, fmt.Errorf("get %s of bucket %q: %s", path, c.name, response.Status)}
	}
	return io.ReadAll(io.LimitReader(response.Body, maxOriginal))
}

// objectURL returns the URL of an object. The scheme of the endpoint is https unless it specifies another; without an
// endpoint, AWS is used.
func objectURL(c bucketConfig, path string) (*url.URL, error) {
	switch {
	case c.name == "":
		return nil, errors.New("InvalidParameter: no bucket name")
	case c.region == "":
		return nil, errors.New("MissingRegion: could not find region configuration")
	case c.accessKey == "" || c.secretKey == "":
		return nil, errors.New("EmptyStaticCreds: static credentials are empty")
	}
	endpoint := c.endpoint
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("parse SOURCE_BUCKET_ENDPOINT: %w", err)
	}
	u.Path = "/" + strings.TrimPrefix(path, "/")
	if hasHost(c.name, u.Scheme == "https") {
		u.Host = c.name + "." + u.Host
	} else {
		u.Path = "/" + c.name + u.Path
	}
	return u, nil
}

var (
	dnsName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	ipName  = regexp.MustCompile(`^(\d+\.){3}\d+$`)
)

// hasHost chooses between BUCKET.host/key and host/BUCKET/key. Like version 1 of the AWS SDK for Go, which Darkroom
// uses, it considers only the name of the bucket and not the endpoint. A bucket `photos` at http://10.0.0.5:9000 is
// requested from photos.10.0.0.5, which does not resolve; `my_photos` is not a valid DNS name, so it is requested by
// path, which works. With TLS (secure), a dot in the name would not match a wildcard certificate.
func hasHost(bucket string, secure bool) bool {
	safe := dnsName.MatchString(bucket) && !ipName.MatchString(bucket) && !strings.Contains(bucket, "..")
	return safe && !(secure && strings.Contains(bucket, "."))
}
