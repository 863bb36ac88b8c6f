package apiserver

import (
	"context"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
)

// ServerSettings are what forms need to know of the server and the operator.
type ServerSettings struct {
	Cluster         string   `json:"cluster" doc:"Name of the cluster; empty if it has none"`
	BaseDomain      string   `json:"baseDomain" doc:"Images are served at <subDomain>.<base domain>, with the namespace of a Darkroom in place of {namespace}"`
	BaseDomains     []string `json:"baseDomains,omitempty" doc:"Base domains that spec.baseDomain may name; the first is the default"`
	DarkroomVersion string   `json:"darkroomVersion" doc:"Default version of Darkroom"`
	Namespaces      []string `json:"namespaces" doc:"Namespaces that are served; none means all"`
	Version         string   `json:"version" doc:"Version of this server"`
}

func (s *Server) settings(context.Context, *struct{}) (*output[ServerSettings], error) {
	return &output[ServerSettings]{Body: ServerSettings{
		Cluster:         s.options.ClusterName,
		BaseDomain:      s.options.BaseDomain,
		BaseDomains:     append([]string{s.options.BaseDomain}, s.options.OtherBaseDomains...),
		DarkroomVersion: s.options.DarkroomVersion,
		Namespaces:      append([]string{}, s.options.Namespaces...),
		Version:         s.options.Version,
	}}, nil
}

type accessInput struct {
	Namespace string `query:"namespace" required:"true" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	Name      string `query:"name" maxLength:"253" doc:"Ask about this Darkroom; none means any"`
}

// Access is what a caller may do in a namespace.
type Access struct {
	Create       bool `json:"create"`
	Update       bool `json:"update"`
	Delete       bool `json:"delete"`
	Image        bool `json:"image" doc:"Fetch images from running Darkrooms"`
	Log          bool `json:"log" doc:"Read the logs of pods"`
	CreateSecret bool `json:"createSecret" doc:"Create Secrets in the namespace"`
}

// mayI returns the permissions of the caller, so that the page can hide other actions. Each
// request is still authorized.
func (s *Server) mayI(ctx context.Context, in *accessInput) (*output[Access], error) {
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
	return &output[Access]{Body: out}, nil
}
