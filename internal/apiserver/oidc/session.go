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
	// CheckPeriod is the interval at which a session is refreshed at the issuer.
	CheckPeriod = 10 * time.Minute
	// ahead is how long before the expiry of its ID token a session is refreshed. The clock of the cluster may be ahead,
	// and a token must be valid until the request has finished.
	ahead = 30 * time.Second
	// unrefreshed is the lifetime of a session without a refresh token, which the issuer cannot revoke.
	unrefreshed = time.Hour
	// reuse is how long the result of a refresh applies to requests with the previous cookie.
	reuse = time.Minute
	// revocationTimeout limits the revocation at sign-out.
	revocationTimeout = 5 * time.Second
	// maxRefreshed and maxEnded limit the results of refreshes and the ended sessions in memory.
	maxRefreshed, maxEnded = 4096, 16384
)

// Session is the session of a user. It is stored in the cookie, encrypted.
type Session struct {
	ID string `json:"id"`
	// Subject identifies the user at the issuer.
	Subject string `json:"subject"`
	// IDToken is the token for the cluster; empty with impersonation.
	IDToken string `json:"idToken,omitempty"`
	// Username and Groups are the mapped claims, without prefixes; empty without
	// impersonation.
	Username string   `json:"username,omitempty"`
	Groups   []string `json:"groups,omitempty"`
	// RefreshToken is empty if the issuer did not send one.
	RefreshToken string `json:"refreshToken,omitempty"`
	// Until is the time of the next refresh.
	Until time.Time `json:"until"`
	// End is the time at which the user must sign in again.
	End time.Time `json:"end"`
}

// renewed returns the session with the tokens of a response.
func (p *Provider) renewed(session *Session, token *oauth2.Token, verified *gooidc.IDToken) (*Session, error) {
	if verified.Subject != session.Subject {
		return nil, fmt.Errorf("%w: the ID token belongs to another user", ErrRefused)
	}
	out := *session
	out.RefreshToken = token.RefreshToken
	now, expiry := p.config.Clock.Now(), verified.Expiry
	period := CheckPeriod
	if out.RefreshToken == "" {
		period = unrefreshed
	} else {
		expiry = expiry.Add(-min(ahead, expiry.Sub(now)/4))
	}
	out.Until = earliest(now.Add(period), expiry, out.End)
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

// Session returns the session of a request, or nil. If the session has to be refreshed, it sets new cookies. The error
// is ErrEnded or ErrUnavailable.
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
		// The configuration has changed.
		return nil, ErrEnded
	}
	err := p.Check(session)
	if err == nil {
		return session, nil
	}
	if session.RefreshToken == "" || p.isEnded(session) {
		return nil, err
	}
	refreshed := p.refresh(request.Context(), session)
	if refreshed.err != nil {
		return nil, refreshed.err
	}
	for _, each := range refreshed.cookies {
		http.SetCookie(w, each)
	}
	return refreshed.session, nil
}

// Check returns ErrEnded if a session has ended or has to be refreshed. Streams call it at each heartbeat.
func (p *Provider) Check(session *Session) error {
	if p.isEnded(session) || !p.config.Clock.Now().Before(session.Until) {
		return ErrEnded
	}
	return nil
}

// isEnded reports whether a session has ended here or is too old.
func (p *Provider) isEnded(session *Session) bool {
	_, ended := p.ended.Get(session.ID)
	return ended || !p.config.Clock.Now().Before(session.End)
}

// refreshResult is the result of a refresh.
type refreshResult struct {
	session *Session
	// cookies store the session. All requests receive the same cookies, because a browser may mix the cookies of
	// several responses.
	cookies []*http.Cookie
	// refreshToken replaces the refresh token, which is used up even if the refresh failed.
	refreshToken string
	err          error
}

// refresh requests new tokens, once for all requests with the same cookie.
func (p *Provider) refresh(ctx context.Context, session *Session) refreshResult {
	key := session.ID + session.Until.String()
	result, _, _ := p.flights.Do(key, func() (any, error) {
		refreshToken := session.RefreshToken
		if known, found := p.refreshed.Get(key); found {
			known := known.(refreshResult)
			if known.refreshToken == "" {
				return known, nil
			}
			refreshToken = known.refreshToken
		}
		// Other requests wait for the result, because the refresh token can be used only once.
		out := p.requestRefresh(context.WithoutCancel(ctx), session, refreshToken)
		switch {
		case !errors.Is(out.err, ErrUnavailable):
			p.refreshed.Add(key, out, reuse)
		case out.refreshToken != "":
			p.refreshed.Add(key, out, session.End.Sub(p.config.Clock.Now()))
		}
		return out, nil
	})
	out := result.(refreshResult)
	if out.err == nil && p.isEnded(out.session) {
		return refreshResult{err: ErrEnded}
	}
	return out
}

func (p *Provider) requestRefresh(ctx context.Context, session *Session, refreshToken string) refreshResult {
	at, err := p.discover(ctx)
	if err != nil {
		return refreshResult{err: err}
	}
	token, err := at.oauth.TokenSource(p.context(ctx), &oauth2.Token{RefreshToken: refreshToken}).Token()
	if err != nil {
		return refreshResult{err: fromIssuer("refresh the session", err, ErrEnded)}
	}
	verified, err := p.verify(ctx, at, token)
	if errors.Is(err, ErrUnavailable) {
		return refreshResult{refreshToken: token.RefreshToken, err: err}
	}
	out := refreshResult{}
	if err == nil {
		out.session, err = p.renewed(session, token, verified)
	}
	if err == nil {
		out.cookies, err = p.Cookies(out.session)
	}
	if err != nil {
		return refreshResult{err: fmt.Errorf("%w: %w", ErrEnded, err)}
	}
	return out
}

// End ends the session of a request at this replica. It also revokes the refresh token if the issuer supports that, so
// that other replicas cannot refresh the session. The error is the error of the revocation.
func (p *Provider) End(request *http.Request) error {
	session := &Session{}
	if sealed := sealedIn(request); sealed == "" || p.sealer.open(SessionCookie, sealed, session) != nil {
		return nil
	}
	p.ended.Add(session.ID, struct{}{}, session.End.Sub(p.config.Clock.Now()))
	if session.RefreshToken == "" {
		return nil
	}
	// The tab may already be closed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(request.Context()), revocationTimeout)
	defer cancel()
	at, err := p.discover(ctx)
	if err != nil || at.revocation == "" {
		return err
	}
	return p.revoke(ctx, at, session.RefreshToken)
}
