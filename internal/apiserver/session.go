package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
)

// Who is the caller of a request.
type Who struct {
	Username string      `json:"username"`
	Groups   []string    `json:"groups"`
	Auth     auth.Method `json:"auth" enum:"token,oidc,kubeconfig" doc:"Your name at this server"`
	// SignOutURL contains no token.
	SignOutURL string `json:"signOutUrl,omitempty" doc:"URL to sign out at the OIDC issuer, after DELETE /session"`
}

// SignIn contains a token to store in a cookie.
type SignIn struct {
	Token string `json:"token" minLength:"1" maxLength:"8192" writeOnly:"true" doc:"A bearer token that the cluster accepts"`
}

// whoAmI returns the authenticated user.
func (s *Server) whoAmI(ctx context.Context, _ *struct{}) (*reply.JSON[Who], error) {
	return reply.With(s.describe(ctx, auth.CallerOf(ctx))), nil
}

func (s *Server) describe(ctx context.Context, who *auth.Caller) Who {
	out := Who{Username: who.Name(), Groups: append([]string{}, who.Groups()...), Auth: s.options.Auth}
	if who.HasSession() {
		out.Auth, out.SignOutURL = auth.OIDC, s.options.OIDC.SignOutURL(ctx)
	}
	return out
}

// WaysToSignIn contains the settings that the page needs before sign-in.
type WaysToSignIn struct {
	Cluster string `json:"cluster" doc:"Name of the cluster; empty if it is not set"`
	Issuer  string `json:"issuer,omitempty" doc:"Name of the OIDC issuer, where GET /auth/login signs in; none means that users sign in by token only"`
}

func (s *Server) waysToSignIn(context.Context, *struct{}) (*reply.JSON[WaysToSignIn], error) {
	out := WaysToSignIn{Cluster: s.options.ClusterName}
	if s.options.OIDC != nil {
		out.Issuer = s.options.OIDC.Name()
	}
	return reply.With(out), nil
}

type signInInput struct {
	RawBody []byte
}

type signInOutput struct {
	Cookie http.Cookie `header:"Set-Cookie"`
	Body   Who
}

// maxCookie limits the size of a token, in bytes. Browsers allow 4096 bytes for name, value and attributes of a cookie
// together.
const maxCookie = 3900

// signIn reviews a token and returns it in a cookie that scripts cannot read and other sites cannot use. The server
// does not store the token.
func (s *Server) signIn(ctx context.Context, in *signInInput) (*signInOutput, error) {
	body := SignIn{}
	if err := checkBody(in.RawBody); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(in.RawBody, &body); err != nil || body.Token == "" {
		return nil, problem.New(http.StatusUnprocessableEntity, "send the token in the body",
			problem.Field{Location: "body.token", Message: "required"})
	}
	if oidc.IsSession(body.Token) {
		return nil, problem.Unauthorized("the token is invalid or has expired")
	}
	if len(body.Token) > maxCookie {
		return nil, problem.New(http.StatusUnprocessableEntity,
			"the token is too large for a cookie: send it in the header Authorization",
			problem.Field{Location: "body.token", Message: fmt.Sprintf("must have at most %d bytes", maxCookie)})
	}
	kept := oidc.TokenCookie(body.Token)
	if err := kept.Valid(); err != nil {
		return nil, problem.New(http.StatusUnprocessableEntity, "invalid token",
			problem.Field{Location: "body.token", Message: "contains characters that are not allowed in a token"})
	}
	who, err := s.auth.SignIn(ctx, body.Token)
	if err != nil {
		return nil, err
	}
	middleware.SetUser(ctx, who.Name())
	return &signInOutput{Cookie: *kept, Body: s.describe(ctx, who)}, nil
}

type signOutInput struct {
	request *http.Request
}

// Resolve implements huma.Resolver.
func (in *signOutInput) Resolve(ctx huma.Context) []error {
	in.request, _ = humago.Unwrap(ctx)
	return nil
}

type signOutOutput struct {
	Cookies []*http.Cookie `header:"Set-Cookie"`
}

// signOut deletes the cookies and ends the session at the issuer. It does not require authentication, so that expired
// tokens can be deleted, too.
func (s *Server) signOut(ctx context.Context, in *signOutInput) (*signOutOutput, error) {
	if s.options.OIDC != nil {
		if err := s.options.OIDC.End(in.request); err != nil {
			// The session has ended at this replica. Other replicas end it at the next refresh.
			middleware.SetError(ctx, err)
		}
	}
	return &signOutOutput{Cookies: oidc.Deletions(in.request)}, nil
}
