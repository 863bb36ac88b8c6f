package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// issuer contains the endpoints in the discovery document.
type issuer struct {
	verifier *gooidc.IDTokenVerifier
	oauth    oauth2.Config
	// revocation and endSession are optional.
	revocation, endSession string
}

// discover returns the issuer. The first call requests the discovery document, so that the server can start while the
// issuer is unavailable.
func (p *Provider) discover(ctx context.Context) (*issuer, error) {
	if known := p.known.Load(); known != nil {
		return known, nil
	}
	found := p.flights.DoChan("discovery", func() (any, error) {
		at, err := p.request(ctx)
		if err == nil {
			p.known.Store(at)
		}
		return at, err
	})
	select {
	case out := <-found:
		if out.Err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, out.Err)
		}
		return out.Val.(*issuer), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

// request requests the discovery document.
func (p *Provider) request(ctx context.Context) (*issuer, error) {
	// Other requests wait for the result.
	ctx, cancel := context.WithTimeout(p.context(context.WithoutCancel(ctx)), issuerTimeout)
	defer cancel()
	provider, err := gooidc.NewProvider(ctx, p.config.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discover issuer: %w", err)
	}
	document := struct {
		JWKS       string `json:"jwks_uri"`
		Revocation string `json:"revocation_endpoint"`
		EndSession string `json:"end_session_endpoint"`
	}{}
	if err := provider.Claims(&document); err != nil {
		return nil, fmt.Errorf("decode discovery document: %w", err)
	}
	endpoint := provider.Endpoint()
	errs := []error{
		checkEndpoint("authorization_endpoint", endpoint.AuthURL),
		checkEndpoint("token_endpoint", endpoint.TokenURL),
		checkEndpoint("jwks_uri", document.JWKS),
	}
	if document.Revocation != "" {
		errs = append(errs, checkEndpoint("revocation_endpoint", document.Revocation))
	}
	if document.EndSession != "" {
		errs = append(errs, checkEndpoint("end_session_endpoint", document.EndSession))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("discovery document: %w", err)
	}
	return &issuer{
		//nolint:contextcheck // it outlives the request
		verifier: provider.VerifierContext(p.context(context.Background()),
			&gooidc.Config{ClientID: p.config.ClientID, Now: p.config.Clock.Now}),
		oauth: oauth2.Config{
			ClientID: p.config.ClientID, ClientSecret: p.secret, Endpoint: endpoint,
			RedirectURL: p.config.RedirectURL, Scopes: p.config.Scopes,
		},
		revocation: document.Revocation, endSession: document.EndSession,
	}, nil
}

// checkEndpoint is like checkURL, but allows a query.
func checkEndpoint(field, text string) error {
	text, _, _ = strings.Cut(text, "?")
	return checkURL(field, text)
}

// context returns a context with the HTTP client for go-oidc and oauth2.
func (p *Provider) context(ctx context.Context) context.Context {
	return gooidc.ClientContext(ctx, p.client)
}

// revoke revokes a refresh token if the issuer supports it (RFC 7009).
func (p *Provider) revoke(ctx context.Context, at *issuer, token string) error {
	form := url.Values{"token": {token}, "token_type_hint": {"refresh_token"}}
	if p.secret == "" {
		form.Set("client_id", p.config.ClientID)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("create revocation: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if p.secret != "" {
		request.SetBasicAuth(url.QueryEscape(p.config.ClientID), url.QueryEscape(p.secret))
	}
	response, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("revoke refresh token: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("revoke refresh token: the issuer responded with %s", response.Status)
	}
	return nil
}
