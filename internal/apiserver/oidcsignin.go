package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// WaysToSignIn is what the page needs before anyone has signed in.
type WaysToSignIn struct {
	Cluster string `json:"cluster" doc:"Name of the cluster; empty if it has none"`
	Issuer  string `json:"issuer,omitempty" doc:"Name of the OIDC issuer, where GET /auth/login signs in; none means by token only"`
}

type waysToSignInOutput struct {
	Body WaysToSignIn
}

func (s *Server) waysToSignIn(context.Context, *struct{}) (*waysToSignInOutput, error) {
	out := WaysToSignIn{Cluster: s.options.ClusterName}
	if s.options.OIDC != nil {
		out.Issuer = s.options.OIDC.Name()
	}
	return &waysToSignInOutput{Body: out}, nil
}

// callerOfRequest identifies the caller of a request: by a session that an issuer has vouched
// for, or by a token.
func (s *Server) callerOfRequest(ctx context.Context, w http.ResponseWriter, request *http.Request) (*caller, error) {
	if s.options.OIDC == nil || request.Header.Get("Authorization") != "" {
		return s.signIns.admit(ctx, tokenOf(request))
	}
	session, err := s.options.OIDC.Session(w, request)
	switch {
	case errors.Is(err, oidc.ErrUnavailable):
		middleware.SetError(ctx, err)
		return nil, problem.Unavailable("the OIDC issuer is unavailable; try again later")
	case err != nil:
		return nil, problem.Unauthorized("the session has ended; sign in again")
	case session == nil:
		return s.signIns.admit(ctx, tokenOf(request))
	}
	return s.callerOfSession(ctx, session)
}

// callerOfSession returns the user of a session: the one that the cluster sees in the ID
// token, or the one to impersonate.
func (s *Server) callerOfSession(ctx context.Context, session *oidc.Session) (*caller, error) {
	var who *caller
	if s.options.OIDC.Impersonates() {
		name, groups := s.options.OIDC.Impersonated(session)
		who = newCaller(&user.DefaultInfo{Name: name, Groups: append(groups, user.AllAuthenticated)}, "")
	} else {
		var err error
		if who, err = s.signIns.admit(ctx, session.IDToken); err != nil {
			return nil, err
		}
		// The result may be shared.
		own := *who
		who = &own
	}
	who.session = session
	return who, nil
}

// stillKnown returns an error if a caller, whose request stays open, is no longer signed in.
func (s *Server) stillKnown(ctx context.Context, who *caller) error {
	if who.session != nil {
		if err := s.options.OIDC.Check(who.session); err != nil || who.impersonated() {
			return err
		}
	}
	_, err := s.identity.identify(ctx, who.token)
	return err
}

// login sends the browser to the issuer.
func (s *Server) login(w http.ResponseWriter, request *http.Request) {
	target, bound, err := s.options.OIDC.Begin(request.Context(), request.URL.Query().Get("return"))
	if err != nil {
		s.notSignedIn(w, request, err)
		return
	}
	http.SetCookie(w, bound)
	http.Redirect(w, request, target, http.StatusSeeOther) //nolint:gosec // the issuer of the configuration
}

// callback signs in a user whom the issuer has sent back.
func (s *Server) callback(w http.ResponseWriter, request *http.Request) {
	address := middleware.AddressOf(request.Context())
	// An attempt counts as failed until it turns out otherwise.
	if err := s.callbacks.Take(address); err != nil {
		middleware.Refuse(request.Context(), w, err)
		return
	}
	http.SetCookie(w, oidc.EndOfFlow())
	returnPath, cookies, err := s.finish(request)
	if err != nil {
		s.notSignedIn(w, request, err)
		return
	}
	s.callbacks.Return(address)
	for _, each := range cookies {
		http.SetCookie(w, each)
	}
	http.Redirect(w, request, returnPath, http.StatusSeeOther) //nolint:gosec // a path of the page, from an encrypted cookie
}

// finish returns the cookies of a session that the cluster accepts too.
func (s *Server) finish(request *http.Request) (returnPath string, cookies []*http.Cookie, err error) {
	session, returnPath, err := s.options.OIDC.Finish(request)
	if err != nil {
		return "", nil, err
	}
	who, err := s.callerOfSession(request.Context(), session)
	if err != nil {
		return "", nil, fmt.Errorf("sign in to the cluster: %w", err)
	}
	middleware.SetUser(request.Context(), who.user.GetName())
	cookies, err = s.options.OIDC.Cookies(session)
	return returnPath, cookies, err
}

// notSignedIn shows the page with the reason of a failed sign-in. The error itself is logged
// only, since the issuer, or who made the link, chooses parts of it.
func (s *Server) notSignedIn(w http.ResponseWriter, request *http.Request, err error) {
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
