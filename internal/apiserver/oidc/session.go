package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// CheckPeriod is how long a session is used before it is refreshed at the issuer.
	CheckPeriod = 10 * time.Minute
	// unrefreshed is the longest session without a refresh token: the issuer cannot revoke
	// it.
	unrefreshed = time.Hour
	// reuse is how long the result of a refresh is used for requests with the previous
	// cookie.
	reuse = time.Minute
	// revocationTimeout bounds the revocation at sign-out.
	revocationTimeout = 5 * time.Second
	// maxRemembered bounds the sessions that are remembered as refreshed or ended.
	maxRemembered = 16384
)

// Session is a user who has signed in. It is stored in the cookie, encrypted.
type Session struct {
	ID string `json:"id"`
	// Subject is the user at the issuer. It never changes.
	Subject string `json:"subject"`
	// IDToken is the token for the cluster; empty with impersonation.
	IDToken string `json:"idToken,omitempty"`
	// Username and Groups are the mapped claims, without prefixes; empty without
	// impersonation.
	Username string   `json:"username,omitempty"`
	Groups   []string `json:"groups,omitempty"`
	// RefreshToken is empty if the issuer sent none.
	RefreshToken string `json:"refreshToken,omitempty"`
	// Until is when the session must be refreshed.
	Until time.Time `json:"until"`
	// End is when the user must sign in again.
	End time.Time `json:"end"`
}

// renewed returns a session with the tokens of an answer of the issuer.
func (p *Provider) renewed(session *Session, token *oauth2.Token, verified *gooidc.IDToken) (*Session, error) {
	if verified.Subject != session.Subject {
		return nil, fmt.Errorf("%w: the ID token is of another user", ErrRefused)
	}
	out := *session
	out.RefreshToken = token.RefreshToken
	period := CheckPeriod
	if out.RefreshToken == "" {
		period = unrefreshed
	}
	out.Until = earliest(p.config.Clock.Now().Add(period), verified.Expiry, out.End)
	if p.config.Impersonation == nil {
		out.IDToken, _ = token.Extra("id_token").(string)
		return &out, nil
	}
	from := claims{}
	if err := verified.Claims(&from); err != nil {
		return nil, fmt.Errorf("%w: decode claims: %w", ErrRefused, err)
	}
	var err error
	out.Username, out.Groups, err = p.config.Impersonation.identity(from)
	return &out, err
}

func earliest(first time.Time, others ...time.Time) time.Time {
	for _, other := range others {
		if other.Before(first) {
			first = other
		}
	}
	return first
}

// Session returns the session of a request, or nil if it has none. If the session has to be
// refreshed, it sets new cookies. The error is ErrEnded or ErrUnavailable.
func (p *Provider) Session(w http.ResponseWriter, request *http.Request) (*Session, error) {
	sealed := sealedIn(request)
	if sealed == "" {
		return nil, nil
	}
	session := &Session{}
	if err := p.sealer.open(SessionCookie, sealed, session); err != nil {
		return nil, ErrEnded
	}
	if (session.IDToken == "") != p.Impersonates() {
		// The configuration has changed since the sign-in.
		return nil, ErrEnded
	}
	err := p.Check(session)
	if err == nil {
		return session, nil
	}
	if session.RefreshToken == "" || p.isEnded(session) {
		return nil, err
	}
	if session, err = p.refresh(request.Context(), session); err != nil {
		return nil, err
	}
	cookies, err := p.Cookies(session)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEnded, err)
	}
	for _, each := range cookies {
		http.SetCookie(w, each)
	}
	return session, nil
}

// Check returns ErrEnded if a session has to be refreshed, or has ended. Streams call it
// again and again.
func (p *Provider) Check(session *Session) error {
	if p.isEnded(session) || !p.config.Clock.Now().Before(session.Until) {
		return ErrEnded
	}
	return nil
}

// isEnded reports whether a session was ended here or is too old.
func (p *Provider) isEnded(session *Session) bool {
	_, ended := p.ended.Get(session.ID)
	return ended || !p.config.Clock.Now().Before(session.End)
}

// refreshResult is the result of a refresh.
type refreshResult struct {
	session *Session
	err     error
}

// refresh asks the issuer for new tokens, once for all requests with the same cookie.
func (p *Provider) refresh(ctx context.Context, session *Session) (*Session, error) {
	key := session.ID + session.Until.String()
	result, _, _ := p.flights.Do(key, func() (any, error) {
		if known, found := p.refreshed.Get(key); found {
			return known, nil
		}
		// Other requests wait for the result, and the refresh token may be used up.
		refreshed, err := p.requestRefresh(context.WithoutCancel(ctx), session)
		out := refreshResult{refreshed, err}
		if !errors.Is(err, ErrUnavailable) {
			p.refreshed.Add(key, out, reuse)
		}
		return out, nil
	})
	out := result.(refreshResult)
	if out.err == nil && p.isEnded(out.session) {
		return nil, ErrEnded
	}
	return out.session, out.err
}

func (p *Provider) requestRefresh(ctx context.Context, session *Session) (*Session, error) {
	at, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	token, err := at.oauth.TokenSource(p.context(ctx), &oauth2.Token{RefreshToken: session.RefreshToken}).Token()
	if err != nil {
		return nil, fromIssuer("refresh the session", err, ErrEnded)
	}
	verified, err := p.verify(ctx, at, token)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEnded, err)
	}
	out, err := p.renewed(session, token, verified)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return out, nil
}

// End ends the session of a request: this replica refuses it from now on, and its refresh
// token is revoked if the issuer supports that, so that no other replica can refresh it. The
// error is that of the revocation.
func (p *Provider) End(request *http.Request) error {
	session := &Session{}
	if sealed := sealedIn(request); sealed == "" || p.sealer.open(SessionCookie, sealed, session) != nil {
		return nil
	}
	p.ended.Add(session.ID, struct{}{}, session.End.Sub(p.config.Clock.Now()))
	if session.RefreshToken == "" {
		return nil
	}
	// The tab may be closed already.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(request.Context()), revocationTimeout)
	defer cancel()
	at, err := p.discover(ctx)
	if err != nil || at.revocation == "" {
		return err
	}
	return p.revoke(ctx, at, session.RefreshToken)
}
