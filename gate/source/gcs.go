package source

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

const gcsScope = "https://www.googleapis.com/auth/devstorage.read_only"

// newGCS returns a source of a bucket of Google Cloud Storage, which is public if there are no
// credentials.
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
		tokens = account.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, w.client))
	default:
		return w, nil
	}
	w.authorize = func(r *http.Request) error {
		token, err := tokens.Token()
		if err != nil {
			return fmt.Errorf("request a token: %w", err)
		}
		token.SetAuthHeader(r)
		return nil
	}
	return w, nil
}
