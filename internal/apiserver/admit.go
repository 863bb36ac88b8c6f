package apiserver

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/listen"
)

// rightOf returns the permission that a request needs. If there is none, the handler rejects the request.
type rightOf func(ctx huma.Context, body []byte) (right auth.Right, needed bool)

// onDarkroom requires a verb on the Darkroom in the path.
func onDarkroom(verb string) rightOf {
	return func(ctx huma.Context, _ []byte) (auth.Right, bool) {
		return auth.ToDarkrooms(verb, ctx.Param("namespace"), ctx.Param("name")), true
	}
}

// inNamespace requires create in the namespace in the body.
func inNamespace(group, resource string) rightOf {
	return func(_ huma.Context, body []byte) (auth.Right, bool) {
		in := struct {
			Namespace string `json:"namespace"`
		}{Namespace: defaultNamespace}
		if err := json.Unmarshal(body, &in); err != nil {
			return auth.Right{}, false
		}
		if in.Namespace == "" {
			in.Namespace = defaultNamespace
		}
		right := auth.Right{Verb: "create", Group: group, Resource: resource, Namespace: in.Namespace}
		return right, len(validation.IsDNS1123Label(in.Namespace)) == 0
	}
}

// admit reads the body within the limits of bodies, authorizes the caller, and only then takes a place for the request,
// so that slow clients and callers without permission do not block others.
func (s *Server) admit(of *body) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		_, w := humago.Unwrap(ctx)
		who := auth.CallerOf(ctx.Context()).Name()
		leave, err := s.limits.Bodies.Enter(ctx.Context(), who)
		if err != nil {
			middleware.Refuse(ctx.Context(), w, err)
			return
		}
		defer leave()
		body, err := readBody(ctx, w, of.most)
		if err == nil {
			listen.Keep(ctx.Context())
		}
		if err == nil && of.right != nil {
			err = s.requireFor(ctx, body, of.right)
		}
		if err != nil {
			middleware.Refuse(ctx.Context(), w, err)
			return
		}
		limits := []*limit.Shares{s.limits.Requests, s.limits.Writes}
		if of.right == nil {
			limits = limits[:1]
		}
		for _, places := range limits {
			leave, err := places.Enter(ctx.Context(), who)
			if err != nil {
				middleware.Refuse(ctx.Context(), w, err)
				return
			}
			defer leave()
		}
		next(&withBody{ctx, body})
	}
}

// requireFor authorizes the caller. The handlers reject namespaces that are not served.
func (s *Server) requireFor(ctx huma.Context, body []byte, need rightOf) error {
	right, needed := need(ctx, body)
	if !needed || !s.serves(right.Namespace) {
		return nil
	}
	err := s.auth.Access.RequireNow(ctx.Context(), right)
	var refusal *problem.Details
	if right.Resource == "secrets" && errors.As(err, &refusal) && refusal.Status == http.StatusForbidden {
		return mayNotCreateSecrets(right.Namespace)
	}
	return err
}
