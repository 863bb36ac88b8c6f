package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

const (
	// maxRemembered limits the hashes of valid and of invalid tokens that are kept.
	maxRemembered = 4096
	// goodFor is how long a valid token is exempt from limits.
	goodFor = time.Hour
	// failuresPerSecond is the rate at which an address recovers from failed attempts.
	failuresPerSecond = 1
	// Addresses without attempts left share slowPerSecond reviews a second. A request waits at most slowTimeout.
	slowPerSecond = 10
	slowTimeout   = 15 * time.Second
	// maxIssuers limits the issuers of valid tokens that are kept.
	maxIssuers = 16
)

// signIns defends the cluster against callers who try tokens: each token that is not
// known costs a TokenReview. Behind a proxy the person who has just signed in may come
// from the same address as the one who tries, and must get through all the same.
//
//   - A token that was good, or bad, is known by its hash and never limited.
//   - Only failures count, for each address, and apart for tokens that claim an issuer
//     whose tokens were good before: junk does not use up the attempts of those.
//   - An address without attempts left is slowed down rather than locked out.
type signIns struct {
	identity identifier
	good     *cache.LRUExpireCache
	bad      *cache.LRUExpireCache
	badFor   time.Duration
	attempts *limit.Rates
	slow     *limit.Rates

	mu      sync.Mutex
	issuers map[string]bool
}

func newSignIns(identity identifier, burst int, badFor time.Duration, own *rest.Config) *signIns {
	out := &signIns{
		identity: identity,
		good:     cache.NewLRUExpireCache(maxRemembered),
		bad:      cache.NewLRUExpireCache(maxRemembered),
		badFor:   badFor,
		attempts: limit.NewRates(failuresPerSecond, burst),
		slow:     limit.NewRates(slowPerSecond, slowPerSecond),
		issuers:  map[string]bool{},
	}
	out.learn(ownToken(own))
	return out
}

// ownToken returns the token of this server. Its issuer also issues the tokens of most callers.
func ownToken(own *rest.Config) string {
	if own.BearerToken != "" || own.BearerTokenFile == "" {
		return own.BearerToken
	}
	raw, err := os.ReadFile(own.BearerTokenFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// admit returns the owner of a token, or a problem.
func (s *signIns) admit(ctx context.Context, token string) (*Caller, error) {
	if token == "" {
		return s.identity.identify(ctx, token)
	}
	sum := sha256.Sum256([]byte(token))
	if refusal, found := s.bad.Get(sum); found {
		return nil, refusal.(*problem.Details)
	}
	counted := ""
	if _, known := s.good.Get(sum); !known {
		var err error
		if counted, err = s.attempt(ctx, token); err != nil {
			return nil, err
		}
	}
	who, err := s.identity.identify(ctx, token)
	var refusal *problem.Details
	switch {
	case err == nil:
		s.good.Add(sum, struct{}{}, goodFor)
		s.learn(token)
	case errors.As(err, &refusal) && refusal.Status == http.StatusUnauthorized:
		s.good.Remove(sum)
		s.bad.Add(sum, refusal, s.badFor)
		return nil, err
	}
	if counted != "" {
		// The attempt succeeded, or failed for another reason.
		s.attempts.Return(counted)
	}
	return who, err
}

// attempt counts an attempt as failed, and returns the key that it was counted for; empty if it waited for a shared
// review instead.
func (s *signIns) attempt(ctx context.Context, token string) (counted string, err error) {
	counted = middleware.AddressOf(ctx)
	if issuer := issuerOf(token); s.knows(issuer) {
		counted += " " + issuer
	}
	if s.attempts.Take(counted) == nil {
		return counted, nil
	}
	return "", s.slow.Wait(ctx, "", slowTimeout)
}

func (s *signIns) knows(issuer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issuers[issuer]
}

func (s *signIns) learn(token string) {
	issuer := issuerOf(token)
	s.mu.Lock()
	defer s.mu.Unlock()
	if issuer != "" && len(s.issuers) < maxIssuers {
		s.issuers[issuer] = true
	}
}

// issuerOf returns the issuer in a JWT, or an empty string. The claim is not verified; it only selects a limit.
func issuerOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	claims := struct {
		Issuer string `json:"iss"`
	}{}
	if json.Unmarshal(raw, &claims) != nil {
		return ""
	}
	return claims.Issuer
}
