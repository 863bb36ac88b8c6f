package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// someTokens are those that a cluster accepts.
type someTokens struct {
	good  map[string]bool
	asked int
}

func (s *someTokens) identify(_ context.Context, token string) (*Caller, error) {
	s.asked++
	if token == "away" {
		return nil, problem.Unavailable("away")
	}
	if !s.good[token] {
		return nil, problem.Unauthorized("bad")
	}
	return newCaller(&user.DefaultInfo{Name: "ada"}, token), nil
}

func issuedBy(issuer, subject string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"iss":%q,"sub":%q}`, issuer, subject)) + ".e30"
}

// newTestSignIns lets two attempts fail, and then one that waits.
func newTestSignIns(tokens *someTokens) *signIns {
	own := &rest.Config{BearerToken: issuedBy("cluster", "server")}
	s := newSignIns(tokens, 2, time.Hour, own)
	s.attempts = limit.NewRates(1e-6, 2)
	s.slow = limit.NewRates(1e-6, 1)
	return s
}

func statusOf(t *testing.T, s *signIns, token string) int {
	t.Helper()
	_, err := s.admit(middleware.WithAddress(t.Context(), "192.0.2.1"), token)
	var refusal *problem.Details
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &refusal):
		return refusal.Status
	}
	t.Fatal(err)
	return 0
}

func TestAttemptsToSignIn(t *testing.T) {
	good, other := issuedBy("cluster", "good"), issuedBy("cluster", "other")
	tokens := &someTokens{good: map[string]bool{good: true, other: true, "opaque": true}}
	s := newTestSignIns(tokens)
	for _, step := range []struct {
		what, token string
		status      int
		// asked is whether it costs a review.
		asked bool
	}{
		{"a bad token", "a", http.StatusUnauthorized, true},
		{"the same, which is remembered", "a", http.StatusUnauthorized, false},
		{"a cluster that is away counts for nothing", "away", http.StatusServiceUnavailable, true},
		{"another bad one", "b", http.StatusUnauthorized, true},
		{"the third one waits with all other addresses", "c", http.StatusUnauthorized, true},
		{"the fourth one would wait for too long", "d", http.StatusTooManyRequests, false},
		{"a good one of an issuer that is known", good, http.StatusOK, true},
		{"and one more: good ones are not counted", other, http.StatusOK, true},
		{"a good one is known from then on", good, http.StatusOK, true},
		{"one that claims the issuer is counted apart", issuedBy("cluster", "bad"), http.StatusUnauthorized, true},
		{"one that claims another is not", issuedBy("elsewhere", "bad"), http.StatusTooManyRequests, false},
		{"no token", "", http.StatusUnauthorized, true},
	} {
		before := tokens.asked
		if got := statusOf(t, s, step.token); got != step.status || (tokens.asked > before) != step.asked {
			t.Errorf("%s is answered %d, and asked for: %t; want %d, %t", step.what, got,
				tokens.asked > before, step.status, step.asked)
		}
	}
}

func TestGoodTokensTurnBad(t *testing.T) {
	tokens := &someTokens{good: map[string]bool{"once": true}}
	s := newTestSignIns(tokens)
	if got := statusOf(t, s, "once"); got != http.StatusOK {
		t.Fatalf("answers %d", got)
	}
	delete(tokens.good, "once")
	for range 2 {
		if got := statusOf(t, s, "once"); got != http.StatusUnauthorized {
			t.Errorf("answers %d", got)
		}
	}
	if tokens.asked != 2 {
		t.Errorf("%d reviews", tokens.asked)
	}
}
