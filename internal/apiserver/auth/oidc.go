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

// Login sends the browser to the issuer.
func (a *Authenticator) Login(w http.ResponseWriter, request *http.Request) {
	target, bound, err := a.oidc.Begin(request.Context(), request.URL.Query().Get("return"))
	if err != nil {
		a.notSignedIn(w, request, err)
		return
	}
	http.SetCookie(w, bound)
	http.Redirect(w, request, target, http.StatusSeeOther) //nolint:gosec // the issuer of the configuration
}

// Callback signs in a user whom the issuer has sent back.
func (a *Authenticator) Callback(w http.ResponseWriter, request *http.Request) {
	address := middleware.AddressOf(request.Context())
	// An attempt counts as failed until it turns out otherwise. As with tokens, an address without attempts left is
	// slowed down, because others may share it.
	counted := a.callbacks.Take(address) == nil
	if !counted {
		if err := a.signIns.slow.Wait(request.Context(), "", slowTimeout); err != nil {
			middleware.Refuse(request.Context(), w, err)
			return
		}
	}
	returnPath, cookies, err := a.finish(request)
	// A callback of another sign-in costs the issuer nothing, and does not end the one that this browser has begun.
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

// finish returns the cookies of a session that the cluster accepts too.
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

// notSignedIn shows the page with the reason of a failed sign-in. The error itself is logged
// only, since the issuer, or who made the link, chooses parts of it.
func (a *Authenticator) notSignedIn(w http.ResponseWriter, request *http.Request, err error) {
	middleware.SetError(request.Context(), err)
	http.Redirect(w, request, "/?"+url.Values{"signIn": {reasonOf(err)}}.Encode(), http.StatusSeeOther)
}

// reasonOf returns the word for an error that the page explains.
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
