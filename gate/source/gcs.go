package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

const (
	gcsEndpoint = "https://storage.googleapis.com"
	gcsScope    = "https://www.googleapis.com/auth/devstorage.read_only"
)

// GCS configures a bucket of Google Cloud Storage.
type GCS struct {
	Bucket string
	// CredentialsJSON is the key of a service account; empty means a public bucket.
	CredentialsJSON string
	// Endpoint replaces that of Google, for compatible services.
	Endpoint string
}

// NewGCS returns a source of a bucket.
func NewGCS(config GCS) (Source, error) {
	if config.Bucket == "" {
		return nil, errors.New("GoogleCloudStorage source requires a bucket")
	}
	if config.Endpoint == "" {
		config.Endpoint = gcsEndpoint
	}
	w, err := newWeb(config.Endpoint, config.Bucket)
	if err != nil || config.CredentialsJSON == "" {
		return w, err
	}
	account, err := google.JWTConfigFromJSON([]byte(config.CredentialsJSON), gcsScope)
	if err != nil || account.Email == "" || len(account.PrivateKey) == 0 {
		// The error may contain a part of the key.
		return nil, errors.New("credentials of the GoogleCloudStorage source are not the key of a service account")
	}
	tokens := account.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, w.client))
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
