package auth

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// someTokens are the tokens that the cluster accepts.
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

// newTestSignIns allows two failed attempts, and then one that waits.
func newTestSignIns(tokens *someTokens) *signIns {
	s := newSignIns(tokens, 2, time.Hour)
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
	tokens := &someTokens{good: map[string]bool{"good": true, "other": true}}
	s := newTestSignIns(tokens)
	for _, step := range []struct {
		what, token string
		status      int
		// asked is set if the attempt causes a review.
		asked bool
	}{
		{"a good token", "good", http.StatusOK, true},
		{"a bad one", "a", http.StatusUnauthorized, true},
		{"the same, which is remembered", "a", http.StatusUnauthorized, false},
		{"an unavailable cluster does not count", "away", http.StatusServiceUnavailable, true},
		{"another bad one", "b", http.StatusUnauthorized, true},
		{"a valid one waits with all other addresses", "other", http.StatusOK, true},
		{"a third bad one would wait too long", "c", http.StatusTooManyRequests, false},
		{"known valid ones are not limited", "good", http.StatusOK, true},
		{"no token", "", http.StatusUnauthorized, true},
	} {
		before := tokens.asked
		if got := statusOf(t, s, step.token); got != step.status || (tokens.asked > before) != step.asked {
			t.Errorf("%s got status %d, reviewed: %t; want %d, %t", step.what, got,
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
