package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

const (
	// maxRemembered limits the hashes of valid and of invalid tokens that are kept.
	maxRemembered = 4096
	// goodFor is the time for which a valid token is exempt from limits.
	goodFor = time.Hour
	// failuresPerSecond is the rate at which an address recovers from failed attempts.
	failuresPerSecond = 1
	// Addresses without remaining attempts share slowPerSecond reviews per second. A request waits at most slowTimeout.
	slowPerSecond = 10
	slowTimeout   = 15 * time.Second
)

// signIns protects the cluster against callers who try many tokens: each unknown token causes a TokenReview.
//
//   - The hashes of recently reviewed tokens are remembered, and these tokens are never limited.
//   - Only failures count, separately for each address.
//   - An address without remaining attempts is slowed down instead of locked out, because others may share it.
type signIns struct {
	identity identifier
	good     *cache.LRUExpireCache
	bad      *cache.LRUExpireCache
	badFor   time.Duration
	attempts *limit.Rates
	slow     *limit.Rates
}

func newSignIns(identity identifier, burst int, badFor time.Duration) *signIns {
	return &signIns{
		identity: identity,
		good:     cache.NewLRUExpireCache(maxRemembered),
		bad:      cache.NewLRUExpireCache(maxRemembered),
		badFor:   badFor,
		attempts: limit.NewRates(failuresPerSecond, burst),
		slow:     limit.NewRates(slowPerSecond, slowPerSecond),
	}
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
	address, counted := middleware.AddressOf(ctx), false
	if _, known := s.good.Get(sum); !known {
		if counted = s.attempts.Take(address) == nil; !counted {
			if err := s.slow.Wait(ctx, "", slowTimeout); err != nil {
				return nil, err
			}
		}
	}
	who, err := s.identity.identify(ctx, token)
	var refusal *problem.Details
	switch {
	case err == nil:
		s.good.Add(sum, struct{}{}, goodFor)
	case errors.As(err, &refusal) && refusal.Status == http.StatusUnauthorized:
		s.good.Remove(sum)
		s.bad.Add(sum, refusal, s.badFor)
		return nil, err
	}
	if counted {
		// The attempt succeeded, or failed for a different reason.
		s.attempts.Return(address)
	}
	return who, err
}
