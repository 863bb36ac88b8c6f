package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/cache"
)

// Reasons why a user is not signed in.
var (
	// ErrUnavailable means that the issuer does not respond.
	ErrUnavailable = errors.New("the issuer is unavailable")
	// ErrExpired means that the sign-in took too long, or was started in another browser.
	ErrExpired = errors.New("the sign-in has expired, or began in another browser")
	// ErrRefused means that the issuer refused the sign-in or sent an invalid token.
	ErrRefused = errors.New("the issuer refused the sign-in")
	// ErrNotAllowed means that the user is not mapped to a user of the cluster.
	ErrNotAllowed = errors.New("the user may not sign in here")
	// ErrEnded means that the session has ended or was revoked.
	ErrEnded = errors.New("the session has ended")
)

// flowLifetime is the maximum time for users to sign in at the issuer.
const flowLifetime = 10 * time.Minute

// Provider signs users in at one issuer.
type Provider struct {
	config Config
	secret string
	client *http.Client
	sealer *sealer
	known  atomic.Pointer[issuer]

	flights singleflight.Group
	// refreshed contains the results of refreshes, for requests that were sent with the previous cookie. Many issuers
	// accept a refresh token only once.
	refreshed *cache.LRUExpireCache
	// ended contains the sessions that ended at this replica.
	ended *cache.LRUExpireCache
}

// New returns a provider. It returns an error for an invalid configuration, and sends no requests.
func New(config Config) (*Provider, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("OIDC configuration: %w", err)
	}
	secret, secretErr := config.clientSecret()
	keys, keysErr := config.cookieKeys()
	client, clientErr := config.httpClient()
	if err := errors.Join(secretErr, keysErr, clientErr); err != nil {
		return nil, fmt.Errorf("OIDC configuration: %w", err)
	}
	sealer, err := newSealer(keys)
	if err != nil {
		return nil, err
	}
	return &Provider{
		config: config, secret: secret, client: client, sealer: sealer,
		refreshed: cache.NewLRUExpireCacheWithClock(maxRefreshed, config.Clock),
		ended:     cache.NewLRUExpireCacheWithClock(maxEnded, config.Clock),
	}, nil
}

// Name returns the issuer's name shown on the page.
func (p *Provider) Name() string { return p.config.Name }

// Impersonates reports whether users are impersonated. Otherwise their ID token is sent to the cluster.
func (p *Provider) Impersonates() bool { return p.config.Impersonation != nil }

// flow is a sign-in in progress. Its cookie binds it to the browser.
type flow struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Return   string    `json:"return"`
	Until    time.Time `json:"until"`
}

// Begin returns the URL of the sign-in at the issuer, and a cookie for Finish. Afterwards the browser is redirected to
// returnPath, or to / if that is not a path of this server.
func (p *Provider) Begin(ctx context.Context, returnPath string) (target string, bound *http.Cookie, err error) {
	at, err := p.discover(ctx)
	if err != nil {
		return "", nil, err
	}
	begun := flow{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		Return: localPath(returnPath), Until: p.config.Clock.Now().Add(flowLifetime),
	}
	sealed, err := p.sealer.seal(flowCookie, begun)
	if err != nil {
		return "", nil, err
	}
	target = at.oauth.AuthCodeURL(begun.State, gooidc.Nonce(begun.Nonce), oauth2.S256ChallengeOption(begun.Verifier))
	// Browsers do not send SameSite=Strict cookies with the redirect from the issuer, which is another site.
	return target, cookie(flowCookie, sealed, int(flowLifetime.Seconds()), http.SameSiteLaxMode), nil
}

// EndOfFlow returns a cookie that deletes the cookie of Begin.
func EndOfFlow() *http.Cookie { return cookie(flowCookie, "", -1, http.SameSiteLaxMode) }

// Finish returns the session after the redirect from the issuer, and the path to show. It verifies that this browser
// started the sign-in (state), and that the code (PKCE) and the token (nonce) belong to it.
func (p *Provider) Finish(request *http.Request) (session *Session, returnPath string, err error) {
	query, begun := request.URL.Query(), flow{}
	bound, err := request.Cookie(flowCookie)
	if err != nil || p.sealer.open(flowCookie, bound.Value, &begun) != nil || p.config.Clock.Now().After(begun.Until) {
		return nil, "", ErrExpired
	}
	if subtle.ConstantTimeCompare([]byte(begun.State), []byte(query.Get("state"))) != 1 {
		return nil, "", ErrExpired
	}
	if code := query.Get("error"); isOutage(code) {
		return nil, "", fmt.Errorf("%w: %q", ErrUnavailable, code)
	} else if code != "" {
		return nil, "", fmt.Errorf("%w: %q", ErrRefused, code)
	}
	at, err := p.discover(request.Context())
	if err != nil {
		return nil, "", err
	}
	token, err := at.oauth.Exchange(p.context(request.Context()), query.Get("code"), oauth2.VerifierOption(begun.Verifier))
	if err != nil {
		return nil, "", fromIssuer("exchange the code", err, ErrRefused)
	}
	verified, err := p.verify(request.Context(), at, token)
	if err != nil {
		return nil, "", err
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(begun.Nonce)) != 1 {
		return nil, "", fmt.Errorf("%w: the ID token belongs to another sign-in", ErrRefused)
	}
	session = &Session{
		ID: rand.Text(), Subject: verified.Subject,
		End: p.config.Clock.Now().Add(p.config.SessionLifetime.Duration),
	}
	if session, err = p.renewed(session, token, verified); err != nil {
		return nil, "", err
	}
	return session, begun.Return, nil
}

// withoutKeys is the prefix of the error of go-oidc when the keys of the issuer cannot be fetched. go-oidc has no type
// for this error.
const withoutKeys = "failed to verify signature: fetching keys "

// verify returns the ID token in a response if its signature, issuer, audience and expiry are valid.
func (p *Provider) verify(ctx context.Context, at *issuer, token *oauth2.Token) (*gooidc.IDToken, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, fmt.Errorf("%w: it sent no ID token", ErrRefused)
	}
	verified, err := at.verifier.Verify(p.context(ctx), raw)
	if err != nil && strings.HasPrefix(err.Error(), withoutKeys) {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the ID token is invalid: %w", ErrRefused, err)
	}
	party := struct {
		AuthorizedParty string `json:"azp"`
	}{}
	if err := verified.Claims(&party); err != nil || party.AuthorizedParty != "" &&
		party.AuthorizedParty != p.config.ClientID {
		return nil, fmt.Errorf("%w: the ID token was issued to another client", ErrRefused)
	}
	return verified, nil
}

// isOutage reports whether an OAuth error code (RFC 6749, section 4.1.2.1) means that the issuer is unavailable.
func isOutage(code string) bool { return code == "server_error" || code == "temporarily_unavailable" }

// fromIssuer converts an error of the token endpoint to a refusal or ErrUnavailable. Issuers refuse with status 400,
// 401 or an error code; other responses mean an outage. The body of the response is omitted.
func fromIssuer(what string, err, refusal error) error {
	var response *oauth2.RetrieveError
	if !errors.As(err, &response) {
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, what, err)
	}
	status := response.Response.StatusCode
	refused := status == http.StatusBadRequest || status == http.StatusUnauthorized || response.ErrorCode != ""
	if !refused || isOutage(response.ErrorCode) || status >= http.StatusInternalServerError ||
		status == http.StatusTooManyRequests {
		return fmt.Errorf("%w: %s: status %d", ErrUnavailable, what, status)
	}
	return fmt.Errorf("%w: %s: status %d, error %q", refusal, what, status, response.ErrorCode)
}

// signOutTimeout limits the wait for the discovery document in SignOutURL.
const signOutTimeout = 2 * time.Second

// SignOutURL returns the URL to sign out at the issuer; empty if the issuer does not support it or does not respond.
// The URL contains no token.
func (p *Provider) SignOutURL(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, signOutTimeout)
	defer cancel()
	at, err := p.discover(ctx)
	if err != nil || at.endSession == "" {
		return ""
	}
	target, err := url.Parse(at.endSession)
	if err != nil {
		return ""
	}
	query := target.Query()
	query.Set("client_id", p.config.ClientID)
	query.Set("post_logout_redirect_uri", strings.TrimSuffix(p.config.RedirectURL, CallbackPath)+"/")
	target.RawQuery = query.Encode()
	return target.String()
}

// maxReturn limits the path to return to, which is stored in a cookie.
const maxReturn = 2048

// localPath returns a path of this server unchanged, and / for anything else, such as the URL of another site.
func localPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || len(path) > maxReturn || u.IsAbs() || u.Host != "" || u.Opaque != "" ||
		strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	if isList := u.Path == "/"; !isList && !strings.HasPrefix(path, "/ui/") {
		return "/"
	}
	return path
}
