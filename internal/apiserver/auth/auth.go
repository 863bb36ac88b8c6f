// Package auth authenticates the callers of the REST API, authorizes them, and sends requests to
// the cluster with their identity.
//
// A caller sends a bearer token, possibly in a cookie, or the cookie of a session that was started by signing in at an
// OIDC issuer (oidc.go). The cluster reviews tokens (identity.go), and callers who try invalid tokens are slowed down
// (signin.go). The cluster also decides what a caller may do (access.go). The results of both reviews are cached for
// some seconds. Requests with the identity of the caller are subject to the caller's RBAC (clients.go).
package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// Method is a method of authentication.
type Method string

const (
	// Token authenticates each request by its bearer token.
	Token Method = "token"
	// OIDC authenticates users who have signed in at the issuer. No server is configured with OIDC: it is available in
	// addition to Token if Options.OIDC is set.
	OIDC Method = "oidc"
	// Kubeconfig uses the identity of the kubeconfig for all requests.
	Kubeconfig Method = "kubeconfig"
)

// Options are the settings of an Authenticator. All fields except OIDC are required.
type Options struct {
	// Cluster is the configuration of the Kubernetes client, with the server's own identity.
	Cluster *rest.Config
	// HTTPClient and Kube send the server's own requests, within its limits.
	HTTPClient *http.Client
	Kube       kubernetes.Interface
	// Method is Token or Kubeconfig.
	Method Method
	// OIDC signs users in at an issuer. Nil means that users sign in with a token.
	OIDC *oidc.Provider
	// TokenTTL and AccessTTL are the cache lifetimes of token reviews and access reviews.
	TokenTTL, AccessTTL time.Duration
	// SignInBurst is the number of invalid tokens that one address may send before it is slowed down.
	SignInBurst int
	// QuestionsPerSecond and QuestionBurst limit the requests to the cluster with the server's own identity for each
	// caller.
	QuestionsPerSecond float64
	QuestionBurst      int
}

// Authenticator identifies callers.
type Authenticator struct {
	// Access authorizes callers.
	Access *Access
	// Clients sends requests to the cluster with the identity of the caller.
	Clients *Clients

	oidc     *oidc.Provider
	identity identifier
	signIns  *signIns
	// callbacks limits the failed sign-ins at the issuer of each address.
	callbacks *limit.Rates
}

// New returns an Authenticator. It sends no requests.
func New(options Options) (*Authenticator, error) {
	out := &Authenticator{oidc: options.OIDC, callbacks: limit.NewRates(failuresPerSecond, options.SignInBurst)}
	var err error
	if out.Clients, err = newClients(&options); err != nil {
		return nil, err
	}
	// TokenReviews use a separate client, so that they do not wait for requests of signed-in callers. signin.go limits
	// them.
	config := rest.CopyConfig(options.Cluster)
	config.QPS, config.Burst = -1, -1
	reviews, err := kubernetes.NewForConfigAndClient(config, options.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("create client of reviews: %w", err)
	}
	budget := limit.NewRates(options.QuestionsPerSecond, options.QuestionBurst)
	if options.Method == Kubeconfig {
		out.identity = &kubeconfigOwner{kube: reviews, ttl: options.TokenTTL}
		out.Access = newAccess(selfReviews(options.Kube), options.AccessTTL, budget)
	} else {
		if out.identity, err = newTokenReviews(reviews, options.TokenTTL); err != nil {
			return nil, err
		}
		out.Access = newAccess(reviewsOf(options.Kube), options.AccessTTL, budget)
	}
	out.signIns = newSignIns(out.identity, options.SignInBurst, options.TokenTTL)
	return out, nil
}

// SignIn returns the owner of a token, or a problem.
func (a *Authenticator) SignIn(ctx context.Context, token string) (*Caller, error) {
	return a.signIns.admit(ctx, token)
}

// Identify returns the caller of a request, by the OIDC session or the token.
func (a *Authenticator) Identify(ctx context.Context, w http.ResponseWriter, request *http.Request) (*Caller, error) {
	if a.oidc == nil || request.Header.Get("Authorization") != "" {
		return a.signIns.admit(ctx, tokenOf(request))
	}
	session, err := a.oidc.Session(w, request)
	switch {
	case errors.Is(err, oidc.ErrUnavailable):
		middleware.SetError(ctx, err)
		return nil, problem.Unavailable("the OIDC issuer is unavailable; try again later")
	case err != nil:
		return nil, problem.Unauthorized("the session has ended; sign in again")
	case session == nil:
		return a.signIns.admit(ctx, tokenOf(request))
	}
	return a.callerOfSession(ctx, session)
}

// callerOfSession returns the user of a session: the user of the ID token, or the user to impersonate.
func (a *Authenticator) callerOfSession(ctx context.Context, session *oidc.Session) (*Caller, error) {
	var who *Caller
	if a.oidc.Impersonates() {
		name, groups := a.oidc.Impersonated(session)
		who = newCaller(&user.DefaultInfo{Name: name, Groups: append(groups, user.AllAuthenticated)}, "")
	} else {
		var err error
		if who, err = a.signIns.admit(ctx, session.IDToken); err != nil {
			return nil, err
		}
		// Other requests may share the result.
		own := *who
		who = &own
	}
	who.session = session
	return who, nil
}

// StillKnown authenticates the caller of an open request again.
func (a *Authenticator) StillKnown(ctx context.Context) error {
	who := CallerOf(ctx)
	if who.session != nil {
		if err := a.oidc.Check(who.session); err != nil || who.impersonated() {
			return err
		}
	}
	_, err := a.identity.identify(ctx, who.token)
	return err
}
