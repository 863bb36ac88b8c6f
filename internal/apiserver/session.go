package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// Who is the caller of a request.
type Who struct {
	Username string   `json:"username"`
	Groups   []string `json:"groups"`
	Auth     Auth     `json:"auth" enum:"token,kubeconfig" doc:"How callers are known to this server"`
}

// SignIn is a token to keep in a cookie.
type SignIn struct {
	Token string `json:"token" minLength:"1" maxLength:"8192" writeOnly:"true" doc:"A bearer token that the cluster accepts"`
}

type whoOutput struct {
	Body Who
}

// whoAmI tells callers whom the server takes them for.
func (s *Server) whoAmI(ctx context.Context, _ *struct{}) (*whoOutput, error) {
	return &whoOutput{Body: s.describe(callerOf(ctx))}, nil
}

func (s *Server) describe(who *caller) Who {
	return Who{Username: who.user.GetName(), Groups: append([]string{}, who.user.GetGroups()...), Auth: s.options.Auth}
}

type signInInput struct {
	RawBody []byte `contentType:"application/json"`
}

type signInOutput struct {
	Cookie http.Cookie `header:"Set-Cookie"`
	Body   Who
}

// maxCookie is the largest token that browsers keep in a cookie, in bytes: they allow
// 4096 for name, value and attributes together.
const maxCookie = 3900

// signIn checks a token and has the browser keep it in a cookie that scripts cannot
// read and other sites cannot use. The server itself keeps nothing.
func (s *Server) signIn(ctx context.Context, in *signInInput) (*signInOutput, error) {
	body := SignIn{}
	if err := json.Unmarshal(in.RawBody, &body); err != nil || body.Token == "" {
		return nil, problem.New(http.StatusUnprocessableEntity, "send the token in the body", problem.Field{Location: "body.token", Message: "required"})
	}
	if len(body.Token) > maxCookie {
		return nil, problem.New(http.StatusUnprocessableEntity, "the token is too large for a cookie: send it in the header Authorization",
			problem.Field{Location: "body.token", Message: fmt.Sprintf("must have %d bytes at most", maxCookie)})
	}
	kept := cookie(body.Token, 0)
	if err := kept.Valid(); err != nil {
		return nil, problem.New(http.StatusUnprocessableEntity, "invalid token", problem.Field{Location: "body.token", Message: "has characters that are not allowed in a token"})
	}
	who, err := s.signIns.admit(ctx, body.Token)
	if err != nil {
		return nil, err
	}
	middleware.SetUser(ctx, who.user.GetName())
	return &signInOutput{Cookie: kept, Body: s.describe(who)}, nil
}

type signOutOutput struct {
	Cookie http.Cookie `header:"Set-Cookie"`
}

// signOut deletes the cookie. It does not require authentication, so that an expired token
// can be deleted too.
func (s *Server) signOut(context.Context, *struct{}) (*signOutOutput, error) {
	return &signOutOutput{Cookie: cookie("", -1)}, nil
}

func cookie(value string, maxAge int) http.Cookie {
	return http.Cookie{
		Name: sessionCookie, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode,
	}
}
