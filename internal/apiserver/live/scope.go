package live

import (
	"context"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
)

// Access authorizes the caller in a context.
type Access interface {
	// May reports whether the caller has a permission.
	May(ctx context.Context, right auth.Right) (bool, error)
	// Require returns a problem if the caller lacks a permission.
	Require(ctx context.Context, right auth.Right) error
}

// Scope is the set of namespaces in which a caller may apply a verb to Darkrooms. It is evaluated lazily.
type Scope struct {
	access Access
	verb   string
	// only, if set, is the requested namespace.
	only string
	// all is set if the caller has the permission in all namespaces.
	all   bool
	known map[string]bool
}

// NewScope returns the scope of the caller in a context. With a namespace, it returns a problem if the caller lacks the
// permission there.
func NewScope(ctx context.Context, access Access, verb, namespace string) (*Scope, error) {
	out := &Scope{access: access, verb: verb, only: namespace, known: map[string]bool{}}
	right := auth.ToDarkrooms(verb, namespace, "")
	if namespace != "" {
		out.known[namespace] = true
		return out, access.Require(ctx, right)
	}
	var err error
	out.all, err = access.May(ctx, right)
	return out, err
}

// Has reports whether the scope contains a namespace.
func (s *Scope) Has(ctx context.Context, namespace string) (bool, error) {
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

// refresh evaluates the scope again, and reports whether it has changed. It returns a problem if the caller has lost
// the permission in the requested namespace.
func (s *Scope) refresh(ctx context.Context) (changed bool, err error) {
	now, err := NewScope(ctx, s.access, s.verb, s.only)
	if err != nil {
		return false, err
	}
	changed = now.all != s.all
	for namespace, was := range s.known {
		allowed, err := now.Has(ctx, namespace)
		if err != nil {
			return false, err
		}
		changed = changed || allowed != was
	}
	*s = *now
	return changed, nil
}
