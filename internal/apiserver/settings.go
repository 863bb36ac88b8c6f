package apiserver

import (
	"context"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
)

// ServerSettings are settings of the server and the operator, for forms.
type ServerSettings struct {
	Cluster         string   `json:"cluster" doc:"Name of the cluster; empty if it is not set"`
	BaseDomain      string   `json:"baseDomain" doc:"Images are served at <subDomain>.<base domain>, where {namespace} is replaced by the Darkroom's namespace"`
	BaseDomains     []string `json:"baseDomains,omitempty" doc:"Base domains that spec.baseDomain may name; the first is the default"`
	DarkroomVersion string   `json:"darkroomVersion" doc:"Default version of Darkroom"`
	Namespaces      []string `json:"namespaces" doc:"Namespaces that are served; none means all"`
	Version         string   `json:"version" doc:"Version of this server"`
}

func (s *Server) settings(context.Context, *struct{}) (*reply.JSON[ServerSettings], error) {
	return reply.With(ServerSettings{
		Cluster:         s.options.ClusterName,
		BaseDomain:      s.options.BaseDomains[0],
		BaseDomains:     s.options.BaseDomains,
		DarkroomVersion: s.options.DarkroomVersion,
		Namespaces:      append([]string{}, s.options.Namespaces...),
		Version:         s.options.Version,
	}), nil
}
