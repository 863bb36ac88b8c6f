package apiserver

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// PathInput names a Darkroom in the path. It is exported because huma ignores embedded types that are not.
type PathInput struct {
	Namespace string `path:"namespace" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	Name      string `path:"name" maxLength:"253" pattern:"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"`
}

func (p *PathInput) key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

type getInput struct {
	PathInput
	IfNoneMatch string `header:"If-None-Match" doc:"ETag of the version that the client has: 304 if it is still current"`
}

func (s *Server) get(ctx context.Context, in *getInput) (*reply.Darkroom, error) {
	darkroom, err := s.readable(ctx, in.key())
	if err != nil {
		return nil, err
	}
	return reply.Unless(in.IfNoneMatch, darkroom)
}

// readable returns a Darkroom if the caller may get it. Other callers cannot find out whether it exists.
func (s *Server) readable(ctx context.Context, key types.NamespacedName) (*v1alpha1.Darkroom, error) {
	if err := s.auth.Access.Require(ctx, auth.ToDarkrooms("get", key.Namespace, key.Name)); err != nil {
		return nil, err
	}
	if err := s.requireServed(key.Namespace); err != nil {
		return nil, err
	}
	darkroom := s.darkrooms.Get(key)
	if darkroom == nil {
		return nil, reply.NotFound(key)
	}
	return darkroom, nil
}

// readAsCaller reads a Darkroom, including its secrets, from Kubernetes with the caller's own token.
func (s *Server) readAsCaller(ctx context.Context, key types.NamespacedName) (*v1alpha1.Darkroom, error) {
	if err := s.requireServed(key.Namespace); err != nil {
		return nil, err
	}
	out := &v1alpha1.Darkroom{}
	if err := s.auth.Clients.Darkrooms.Get().Namespace(key.Namespace).Resource(plural).Name(key.Name).MaxRetries(0).
		Do(ctx).Into(out); err != nil {
		return nil, reply.FromKubernetes(err, key, wire.AsIs)
	}
	return out, nil
}
