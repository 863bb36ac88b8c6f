package apiserver

import (
	"context"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
)

// scope is the set of namespaces in which a caller has a right to Darkrooms. It is
// evaluated lazily.
type scope struct {
	access *auth.Access
	verb   string
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
	out := &scope{access: access, verb: verb, only: namespace, known: map[string]bool{}}
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

// Extents of scopes that are not one namespace, in ids of events.
const (
	everyNamespace = "*"
	someNamespaces = "-"
)

// extent identifies the namespaces of the scope: all, the requested one, or some.
func (s *scope) extent() string {
	switch {
	case s.only != "":
		return s.only
	case s.all:
		return everyNamespace
	}
	return someNamespaces
}

// refresh evaluates the scope again, and reports whether it has changed. The error is a problem
// if the caller has lost the right to the only namespace.
func (s *scope) refresh(ctx context.Context) (changed bool, err error) {
	now, err := newScope(ctx, s.access, s.verb, s.only)
	if err != nil {
		return false, err
	}
	changed = now.all != s.all
	for namespace, was := range s.known {
		allowed, err := now.has(ctx, namespace)
		if err != nil {
			return false, err
		}
		changed = changed || allowed != was
	}
	*s = *now
	return changed, nil
}
