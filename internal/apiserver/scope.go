package apiserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
)

// scope is the set of namespaces in which a caller has a right to Darkrooms. It is
// evaluated lazily.
type scope struct {
	rights

	access *auth.Access
	verb   string
}

// rights are those that a scope has evaluated.
type rights struct {
	// only, if set, is the requested namespace.
	only string
	// all is set if the caller has the right in all namespaces.
	all   bool
	known map[string]bool
}

// newScope returns the scope of the caller of a request. A caller that names a namespace
// must have the right there.
func (s *Server) newScope(ctx context.Context, verb, namespace string) (*scope, error) {
	out, err := newScope(ctx, s.auth.Access, verb, namespace)
	if err == nil && namespace != "" {
		err = s.requireServed(namespace)
	}
	return out, err
}

func newScope(ctx context.Context, access *auth.Access, verb, namespace string) (*scope, error) {
	out := &scope{access: access, verb: verb, rights: rights{only: namespace, known: map[string]bool{}}}
	right := auth.ToDarkrooms(verb, namespace, "")
	if namespace != "" {
		out.known[namespace] = true
		return out, access.Require(ctx, right)
	}
	var err error
	out.all, err = access.May(ctx, right)
	return out, err
}

func (s *scope) knows(namespace string) bool {
	_, known := s.known[namespace]
	return known || s.all || s.only != ""
}

// has reports whether a namespace is in the scope.
func (s *scope) has(ctx context.Context, namespace string) (bool, error) {
	if s.only != "" && namespace != s.only {
		return false, nil
	}
	if s.all {
		return true, nil
	}
	if allowed, known := s.known[namespace]; known {
		return allowed, nil
	}
	allowed, err := s.access.May(ctx, auth.ToDarkrooms(s.verb, namespace, ""))
	if err != nil {
		return false, err
	}
	s.known[namespace] = allowed
	return allowed, nil
}

// snapshot returns the rights as they are now.
func (s *scope) snapshot() *rights {
	return &rights{only: s.only, all: s.all, known: maps.Clone(s.known)}
}

// digest identifies a set of rights.
func (r *rights) digest() string {
	// Maps are printed sorted.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %t %v", r.only, r.all, r.known))
	return hex.EncodeToString(sum[:8])
}

// still reports whether the rights of the caller are the same as before.
func (s *scope) still(ctx context.Context, before *rights) (bool, error) {
	if s.only != before.only || s.all != before.all {
		return false, nil
	}
	for namespace, was := range before.known {
		allowed, err := s.has(ctx, namespace)
		if err != nil || allowed != was {
			return false, err
		}
	}
	return true, nil
}

// refresh evaluates the scope again, and reports whether it has changed. The error is a problem
// if the caller has lost the right to the only namespace.
func (s *scope) refresh(ctx context.Context) (bool, error) {
	now, err := newScope(ctx, s.access, s.verb, s.only)
	if err != nil {
		return false, err
	}
	same, err := now.still(ctx, &s.rights)
	if err == nil {
		*s = *now
	}
	return !same, err
}
