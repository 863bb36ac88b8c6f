package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3Source reads a bucket with static keys; no other credentials count, not even
// the AWS_* variables. It is recreated for each image, so that a setting that
// is missing fails the image and not the start.
type s3Source struct {
	config bucketConfig
}

func (s s3Source) get(ctx context.Context, path string) ([]byte, error) {
	client, err := s.client()
	if err != nil {
		return nil, fmt.Errorf("read bucket %q: %w", s.config.name, err)
	}
	core := minio.Core{Client: client}
	object, _, _, err := core.GetObject(ctx, s.config.name, strings.TrimPrefix(path, "/"), minio.GetObjectOptions{})
	if err != nil {
		return nil, fmt.Errorf("get %s of bucket %q: %w", path, s.config.name, withStatus(err))
	}
	defer object.Close()
	body, err := io.ReadAll(io.LimitReader(object, maxOriginal))
	if err != nil {
		return nil, fmt.Errorf("read %s of bucket %q: %w", path, s.config.name, err)
	}
	return body, nil
}

func (s s3Source) client() (*minio.Client, error) {
	c := s.config
	switch {
	case c.name == "":
		return nil, errors.New("InvalidParameter: no bucket name")
	case c.region == "":
		return nil, errors.New("MissingRegion: could not find region configuration")
	case c.accessKey == "" || c.secretKey == "":
		return nil, errors.New("EmptyStaticCreds: static credentials are empty")
	}
	endpoint, err := endpointURL(c.endpoint)
	if err != nil {
		return nil, err
	}
	secure := endpoint.Scheme == "https"
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds:        credentials.NewStaticV4(c.accessKey, c.secretKey, ""),
		Secure:       secure,
		Region:       c.region, // spares the request that asks for the bucket's region
		BucketLookup: addressing(c.name, secure),
		MaxRetries:   1, // a test wants its answer, not patience
	})
	if err != nil {
		return nil, fmt.Errorf("S3 client for %s: %w", endpoint, err)
	}
	return client, nil
}

// endpointURL is the custom endpoint, https unless it says otherwise, or AWS.
func endpointURL(endpoint string) (*url.URL, error) {
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
	return u, nil
}

var (
	dnsName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	ipName  = regexp.MustCompile(`^(\d+\.){3}\d+$`)
)

// addressing chooses between BUCKET.host/key and host/BUCKET/key. Like version 1 of
// the AWS SDK for Go, which Darkroom uses, it considers only the name of the bucket
// and not the endpoint. A bucket `photos` at http://10.0.0.5:9000 is requested from
// photos.10.0.0.5, which no DNS resolves; `my_photos` is not a DNS name, so it is
// found. With TLS (secure), a dot in the name would not match a wildcard certificate.
func addressing(bucket string, secure bool) minio.BucketLookupType {
	safe := dnsName.MatchString(bucket) && !ipName.MatchString(bucket) && !strings.Contains(bucket, "..")
	if !safe || (secure && strings.Contains(bucket, ".")) {
		return minio.BucketLookupPath
	}
	return minio.BucketLookupDNS
}

// withStatus hands on the status that S3 answered with. Where there was no
// answer there is no status, and 422 is answered.
func withStatus(err error) error {
	var response minio.ErrorResponse
	if errors.As(err, &response) && response.StatusCode >= 400 {
		return &sourceError{status: response.StatusCode, err: err}
	}
	return err
}
