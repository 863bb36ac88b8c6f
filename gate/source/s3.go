package source

import (
	"errors"
	"net/http"

	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// S3 configures a bucket of AWS S3 or a compatible service.
type S3 struct {
	Bucket, Region, AccessKey, SecretKey string
	// Endpoint is the URL of a compatible service; empty means AWS.
	Endpoint string
}

// emptyDigest is the SHA-256 digest of a request without a body.
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// NewS3 returns a source of a bucket, which is addressed by path.
func NewS3(config S3) (Source, error) {
	if config.Bucket == "" || config.Region == "" {
		return nil, errors.New("S3 source requires a bucket and a region")
	}
	if config.Endpoint == "" {
		config.Endpoint = "https://s3." + config.Region + ".amazonaws.com"
	}
	w, err := newWeb(config.Endpoint, config.Bucket)
	if err != nil {
		return nil, err
	}
	w.authorize = func(r *http.Request) error {
		// S3 takes a plus sign for a space.
		r.URL.RawPath = s3utils.EncodePath(r.URL.Path)
		r.Header.Set("X-Amz-Content-Sha256", emptyDigest)
		*r = *signer.SignV4(*r, config.AccessKey, config.SecretKey, "", config.Region)
		return nil
	}
	return w, nil
}
