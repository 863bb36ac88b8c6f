package auth

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// Login redirects the browser to the issuer.
func (a *Authenticator) Login(w http.ResponseWriter, request *http.Request) {
	target, bound, err := a.oidc.Begin(request.Context(), request.URL.Query().Get("return"))
	if err != nil {
		a.notSignedIn(w, request, err)
		return
	}
	http.SetCookie(w, bound)
	http.Redirect(w, request, target, http.StatusSeeOther) //nolint:gosec // the issuer of the configuration
}

// Callback completes a sign-in when the issuer redirects back.
func (a *Authenticator) Callback(w http.ResponseWriter, request *http.Request) {
	address := middleware.AddressOf(request.Context())
	// The attempt counts as failed until it succeeds. As with tokens, an address without remaining attempts is slowed
	// down instead of blocked, because others may share it.
	counted := a.callbacks.Take(address) == nil
	if !counted {
		if err := a.signIns.slow.Wait(request.Context(), "", slowTimeout); err != nil {
			middleware.Refuse(request.Context(), w, err)
			return
		}
	}
	returnPath, cookies, err := a.finish(request)
	// A callback of another sign-in sends no request to the issuer, and does not affect the sign-in of this browser.
	isOther := errors.Is(err, oidc.ErrExpired)
	if counted && (err == nil || isOther) {
		a.callbacks.Return(address)
	}
	if !isOther {
		http.SetCookie(w, oidc.EndOfFlow())
	}
	if err != nil {
		a.notSignedIn(w, request, err)
		return
	}
	for _, each := range cookies {
		http.SetCookie(w, each)
	}
	//nolint:gosec // a path of the page, from an encrypted cookie
	http.Redirect(w, request, returnPath, http.StatusSeeOther)
}

// finish returns the cookies of a session that the cluster accepts.
func (a *Authenticator) finish(request *http.Request) (returnPath string, cookies []*http.Cookie, err error) {
	session, returnPath, err := a.oidc.Finish(request)
	if err != nil {
		return "", nil, err
	}
	who, err := a.callerOfSession(request.Context(), session)
	if err != nil {
		return "", nil, fmt.Errorf("sign in to the cluster: %w", err)
	}
	middleware.SetUser(request.Context(), who.Name())
	cookies, err = a.oidc.Cookies(session)
	return returnPath, cookies, err
}

// notSignedIn redirects to the page with the reason of a failed sign-in. The error is only logged, because the issuer
// or the author of a link controls parts of it.
func (a *Authenticator) notSignedIn(w http.ResponseWriter, request *http.Request, err error) {
	middleware.SetError(request.Context(), err)
	http.Redirect(w, request, "/?"+url.Values{"signIn": {reasonOf(err)}}.Encode(), http.StatusSeeOther)
}

// reasonOf returns a word that the page explains.
func reasonOf(err error) string {
	var refusal *problem.Details
	switch {
	case errors.Is(err, oidc.ErrExpired):
		return "expired"
	case errors.Is(err, oidc.ErrRefused):
		return "refused"
	case errors.Is(err, oidc.ErrNotAllowed):
		return "notAllowed"
	case errors.As(err, &refusal) && refusal.Status == http.StatusUnauthorized:
		return "notTrusted"
	}
	return "unavailable"
}
