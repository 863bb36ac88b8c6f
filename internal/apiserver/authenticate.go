package apiserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// public marks operations that need no caller, in huma's metadata. All others do.
const public = "public"

// authenticate defends against callers whom the cluster does not know, and against
// those who ask too often. Operations are closed unless they are marked public.
func (s *Server) authenticate(ctx huma.Context, next func(huma.Context)) {
	request, w := humago.Unwrap(ctx)
	base := withAddress(ctx.Context(), request.RemoteAddr)
	if ctx.Operation().Metadata[public] == true {
		next(huma.WithContext(ctx, base))
		return
	}
	who, err := s.admit(base, tokenOf(request))
	if err == nil {
		err = s.limits.take(who.user.GetName())
	}
	if err != nil {
		asProblem(base, err).write(w)
		return
	}
	noteCaller(base, who)
	next(huma.WithContext(ctx, withCaller(base, who)))
}

// admit identifies the owner of a token. Tokens that are not known to be good are
// limited by the address that tries them: each costs the cluster a question.
func (s *Server) admit(ctx context.Context, token string) (*caller, error) {
	sum := sha256.Sum256([]byte(token))
	_, known := s.goodTokens.Get(sum)
	if token != "" && !known {
		if err := s.signIns.take(addressOf(ctx)); err != nil {
			return nil, err
		}
	}
	who, err := s.identity.identify(ctx, token)
	if err != nil {
		s.goodTokens.Remove(sum)
		return nil, err
	}
	s.goodTokens.Add(sum, struct{}{}, time.Hour)
	return who, nil
}

type addressKey struct{}

// withAddress keeps whose connection it is. Headers such as X-Forwarded-For are not
// asked: anybody can write them.
func withAddress(ctx context.Context, remote string) context.Context {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		remote = host
	}
	return context.WithValue(ctx, addressKey{}, remote)
}

func addressOf(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}

// asProblem makes a problem of an error that is none. What it says is not told: it is
// for the log.
func asProblem(ctx context.Context, err error) *Problem {
	var problem *Problem
	if errors.As(err, &problem) {
		return problem
	}
	noteError(ctx, err)
	return newProblem(http.StatusInternalServerError, ownFault)
}
