package live

import (
	"context"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
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

// Through replaces the access.
func (s *Scope) Through(access Access) { s.access = access }

func (s *Scope) knows(namespace string) bool {
	_, known := s.known[namespace]
	return known || s.all || s.only != ""
}

// Has reports whether a namespace is in the scope.
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

// maxSightings limits the access reviews of SeesAny.
const maxSightings = 20

// SeesAny reports whether the caller may see any Darkroom. It checks a limited number of namespaces.
func (s *Scope) SeesAny(ctx context.Context, darkrooms []*v1alpha1.Darkroom) (bool, error) {
	if s.only != "" || s.all {
		return true, nil
	}
	for _, darkroom := range darkrooms {
		if len(s.known) >= maxSightings && !s.knows(darkroom.Namespace) {
			break
		}
		if sees, err := s.Has(ctx, darkroom.Namespace); sees || err != nil {
			return sees, err
		}
	}
	return false, nil
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
