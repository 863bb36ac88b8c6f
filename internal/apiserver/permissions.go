package apiserver

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/live"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
)

type accessInput struct {
	Namespace string `query:"namespace" required:"true" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	Name      string `query:"name" maxLength:"253" doc:"Limit the permissions to this Darkroom; none means any"`
}

// Access contains the permissions of a caller in a namespace.
type Access struct {
	Create       bool `json:"create"`
	Update       bool `json:"update"`
	Delete       bool `json:"delete"`
	Image        bool `json:"image" doc:"Fetch images from running Darkrooms"`
	Log          bool `json:"log" doc:"Read the logs of pods"`
	CreateSecret bool `json:"createSecret" doc:"Create Secrets in the namespace"`
}

// access returns the permissions of the caller, so that the page can hide the actions that the caller may not take.
// Each action is still authorized.
func (s *Server) access(ctx context.Context, in *accessInput) (*reply.JSON[Access], error) {
	out := Access{}
	for _, question := range []struct {
		answer *bool
		right  auth.Right
	}{
		{&out.Create, auth.ToDarkrooms("create", in.Namespace, "")},
		{&out.Update, auth.ToDarkrooms("update", in.Namespace, in.Name)},
		{&out.Delete, auth.ToDarkrooms("delete", in.Namespace, in.Name)},
		{&out.Image, auth.Right{Verb: "get", Resource: "services", Subresource: "proxy", Namespace: in.Namespace}},
		{&out.Log, toLogs(in.Namespace)},
		{&out.CreateSecret, auth.Right{Verb: "create", Resource: "secrets", Namespace: in.Namespace}},
	} {
		var err error
		if *question.answer, err = s.auth.Access.May(ctx, question.right); err != nil {
			return nil, err
		}
	}
	return reply.With(out), nil
}

// Namespaces are the namespaces in which a caller may write Darkrooms.
type Namespaces struct {
	Create []string `json:"create" doc:"Namespaces in which you may create Darkrooms"`
	Update []string `json:"update" doc:"Namespaces in which you may update all Darkrooms"`
}

// namespacesTimeout is the longest wait for the caller's budget of access reviews.
const namespacesTimeout = 45 * time.Second

// myNamespaces returns the namespaces in which the caller may create and update Darkrooms. The candidates are the
// namespaces with Darkrooms that the caller may watch, --namespaces, default, and the namespace of the caller's
// ServiceAccount.
func (s *Server) myNamespaces(ctx context.Context, _ *struct{}) (*reply.JSON[Namespaces], error) {
	ctx, cancel := context.WithTimeout(ctx, namespacesTimeout)
	defer cancel()
	access := s.auth.Access.Patient()
	watched, err := live.NewScope(ctx, access, "watch", "")
	if err != nil {
		return nil, err
	}
	candidates := append([]string{metav1.NamespaceDefault, limit.NamespaceOf(auth.CallerOf(ctx).Name())},
		s.options.Namespaces...)
	for _, darkroom := range s.darkrooms.All() {
		sees, err := watched.Has(ctx, darkroom.Namespace)
		if err != nil {
			return nil, err
		}
		if sees {
			candidates = append(candidates, darkroom.Namespace)
		}
	}
	slices.Sort(candidates)
	candidates = slices.DeleteFunc(slices.Compact(candidates),
		func(namespace string) bool { return namespace == "" || !s.serves(namespace) })
	out := Namespaces{}
	if out.Create, err = allowed(ctx, access, "create", candidates); err != nil {
		return nil, err
	}
	if out.Update, err = allowed(ctx, access, "update", candidates); err != nil {
		return nil, err
	}
	return reply.With(out), nil
}

// allowed returns the namespaces in which the caller may apply a verb to all Darkrooms.
func allowed(ctx context.Context, access *auth.Access, verb string, namespaces []string) ([]string, error) {
	scope, err := live.NewScope(ctx, access, verb, "")
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, namespace := range namespaces {
		has, err := scope.Has(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if has {
			out = append(out, namespace)
		}
	}
	return out, nil
}
