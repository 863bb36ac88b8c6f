package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"
)

const (
	gcsEndpoint = "https://storage.googleapis.com"
	gcsScope    = "https://www.googleapis.com/auth/devstorage.read_only"
	googleToken = "https://oauth2.googleapis.com/token" //nolint:gosec // a URL
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
	base, err := parseURL(config.Endpoint)
	if err != nil {
		return nil, err
	}
	getter := newGetter(base)
	if config.CredentialsJSON != "" {
		if getter.authorize, err = serviceAccount(config.CredentialsJSON, getter.client); err != nil {
			return nil, err
		}
	}
	return web{base: below(base, "/"+config.Bucket), getter: getter}, nil
}

// serviceAccount returns a function that adds a token for reading objects. Tokens are renewed
// before they expire.
func serviceAccount(key string, client *http.Client) (func(*http.Request) error, error) {
	var account struct {
		Email   string `json:"client_email"`
		Key     string `json:"private_key"`
		KeyID   string `json:"private_key_id"`
		Project string `json:"project_id"`
		Token   string `json:"token_uri"`
	}
	if err := json.Unmarshal([]byte(key), &account); err != nil {
		return nil, errors.New("credentials of the GoogleCloudStorage source are not valid JSON")
	}
	if account.Email == "" || account.Key == "" {
		return nil, errors.New("credentials of the GoogleCloudStorage source are not the key of a service account")
	}
	if account.Token == "" {
		account.Token = googleToken
	}
	if _, err := url.Parse(account.Token); err != nil {
		return nil, errors.New("token_uri of the credentials is not a URL")
	}
	config := jwt.Config{
		Email: account.Email, PrivateKey: []byte(account.Key), PrivateKeyID: account.KeyID,
		Scopes: []string{gcsScope}, TokenURL: account.Token,
	}
	tokens := config.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, client))
	return func(r *http.Request) error {
		token, err := tokens.Token()
		if err != nil {
			return fmt.Errorf("request a token: %w", err)
		}
		token.SetAuthHeader(r)
		return nil
	}, nil
}
