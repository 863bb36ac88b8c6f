package source

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"cloud.google.com/go/compute/metadata"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"golang.org/x/sync/singleflight"
)

// emptyDigest is the SHA-256 digest of a request without a body.
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// newS3 returns a source for a bucket of AWS S3 or a compatible service, with path-style URLs.
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
	current := together(func() (credentials.Value, error) { return keys.GetWithContext(nil) })
	w.authorize = func(r *http.Request) error {
		key, err := current(r.Context())
		if err != nil {
			return fmt.Errorf("request credentials: %w", err)
		}
		// S3 decodes a plus sign as a space.
		r.URL.RawPath = s3utils.EncodePath(r.URL.Path)
		r.Header.Set("X-Amz-Content-Sha256", emptyDigest)
		*r = *signer.SignV4(*r, key.AccessKeyID, key.SecretAccessKey, key.SessionToken, c.Region)
		return nil
	}
	return w, nil
}

// together returns a function that lets concurrent requests share a single call of get. Each request waits until its
// own context ends. One call at a time would make requests queue for a service that does not respond.
func together[T any](get func() (T, error)) func(context.Context) (T, error) {
	var group singleflight.Group
	return func(ctx context.Context) (value T, err error) {
		select {
		case got := <-group.DoChan("", func() (any, error) { return get() }):
			value, _ = got.Val.(T)
			return value, got.Err
		case <-ctx.Done():
			return value, ctx.Err()
		}
	}
}

const gcsScope = "https://www.googleapis.com/auth/devstorage.read_only"

// newGCS returns a source for a bucket of Google Cloud Storage. The bucket is public if there are no credentials.
func newGCS(c Config) (Source, error) {
	if c.Bucket == "" {
		return nil, c.invalid("BUCKET_NAME", "is required")
	}
	w, err := newWeb("BUCKET_ENDPOINT", cmp.Or(c.Endpoint, "https://storage.googleapis.com"), c)
	if err != nil {
		return nil, err
	}
	var tokens oauth2.TokenSource
	switch {
	case c.WorkloadIdentity:
		client := newIdentityClient(c, guard{only: gkeMetadataServer})
		tokens = oauth2.ReuseTokenSource(nil, gkeIdentity{metadata.NewClient(client)})
	case c.CredentialsJSON != "":
		account, err := google.JWTConfigFromJSON([]byte(c.CredentialsJSON), gcsScope)
		if err != nil || account.Email == "" || len(account.PrivateKey) == 0 {
			// The error may contain a part of the key.
			return nil, c.invalid("BUCKET_CREDENTIALSJSON", "is not the key of a service account")
		}
		client := newIdentityClient(c, newGuard(w.base)) // all requests wait for a token
		tokens = account.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, client))
	default:
		return w, nil
	}
	current := together(tokens.Token)
	w.authorize = func(r *http.Request) error {
		token, err := current(r.Context())
		if err != nil {
			return fmt.Errorf("request a token: %w", err)
		}
		token.SetAuthHeader(r)
		return nil
	}
	return w, nil
}
