package source

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// emptyDigest is the SHA-256 digest of a request without a body.
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// newS3 returns a source of a bucket of AWS S3 or a compatible service, addressed by path.
func newS3(c Config) (Source, error) {
	switch {
	case c.Bucket == "":
		return nil, c.invalid("BUCKET_NAME", "is required")
	case c.Region == "":
		return nil, c.invalid("BUCKET_REGION", "is required")
	}
	w, err := newWeb("BUCKET_ENDPOINT", cmp.Or(c.Endpoint, "https://s3."+c.Region+".amazonaws.com"), c)
	if err != nil {
		return nil, err
	}
	keys := credentials.NewStaticV4(c.AccessKey, c.SecretKey, "")
	if c.WorkloadIdentity {
		if keys, err = awsIdentity(c); err != nil {
			return nil, err
		}
	}
	w.authorize = func(r *http.Request) error {
		key, err := keys.GetWithContext(nil)
		if err != nil {
			return fmt.Errorf("request credentials: %w", err)
		}
		// S3 takes a plus sign for a space.
		r.URL.RawPath = s3utils.EncodePath(r.URL.Path)
		r.Header.Set("X-Amz-Content-Sha256", emptyDigest)
		*r = *signer.SignV4(*r, key.AccessKeyID, key.SecretAccessKey, key.SessionToken, c.Region)
		return nil
	}
	return w, nil
}
