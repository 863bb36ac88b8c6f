package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// S3 configures a bucket of AWS S3 or a compatible service.
type S3 struct {
	Bucket, Region, AccessKey, SecretKey string
	// Endpoint is the URL of a compatible service; empty means AWS.
	Endpoint string
}

type s3 struct {
	bucket string
	client *minio.Core
}

// NewS3 returns a source of a bucket.
func NewS3(config S3) (Source, error) {
	if config.Bucket == "" || config.Region == "" {
		return nil, errors.New("S3 source requires a bucket and a region")
	}
	endpoint := &url.URL{Scheme: "https", Host: "s3." + config.Region + ".amazonaws.com"}
	if config.Endpoint != "" {
		var err error
		if endpoint, err = parseURL(config.Endpoint); err != nil {
			return nil, err
		}
	}
	client, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds:      credentials.NewStaticV4(config.AccessKey, config.SecretKey, ""),
		Secure:     endpoint.Scheme == "https",
		Region:     config.Region,
		Transport:  newTransport(newGuard(endpoint)),
		MaxRetries: 2,
	})
	if err != nil {
		return nil, fmt.Errorf("S3 source: %w", err)
	}
	return s3{bucket: config.Bucket, client: client}, nil
}

func (s s3) Open(ctx context.Context, path string, known original.Validators) (*Response, error) {
	options := minio.GetObjectOptions{}
	if known.ETag != "" {
		if err := options.SetMatchETagExcept(strings.Trim(known.ETag, `"`)); err != nil {
			return nil, problem.New(http.StatusInternalServerError, "internal error").Because(err)
		}
	}
	body, info, _, err := s.client.GetObject(ctx, s.bucket, strings.TrimPrefix(path, "/"), options)
	if err == nil {
		return &Response{Body: body, Length: info.Size, Validators: original.Validators{ETag: `"` + info.ETag + `"`}}, nil
	}
	switch response := minio.ToErrorResponse(err); {
	case response.StatusCode == http.StatusNotModified:
		return &Response{Unchanged: true, Body: http.NoBody, Validators: known}, nil
	case response.StatusCode != 0:
		return nil, problem.Of(statusProblem(response.StatusCode)).Because(err)
	}
	return nil, Failure(err)
}
