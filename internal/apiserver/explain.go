package apiserver

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/explain"
)

// maxExplained limits the number of Darkrooms with the same host that are considered.
const maxExplained = 20

// Question is a URL to explain. It is in the body, because proxies log the URLs of requests.
type Question struct {
	URL    string `json:"url" minLength:"1" maxLength:"4096" doc:"URL of an image, for example https://photos.example.com/cat.jpg?w=300"`
	Status int    `json:"status,omitempty" minimum:"100" maximum:"599" doc:"HTTP status that the client got, if it is known"`
}

type explainInput struct {
	Body Question
}

// explain explains a URL. It considers only Darkrooms that the caller may get.
func (s *Server) explain(ctx context.Context, in *explainInput) (*reply.JSON[explain.Explanation], error) {
	parsed, err := explain.Parse(in.Body.URL)
	if err != nil {
		return nil, problem.New(http.StatusUnprocessableEntity, "invalid URL of an image",
			problem.Field{Location: "body.url", Message: err.Error()})
	}
	leave, err := s.limits.Images.Enter(ctx, auth.CallerOf(ctx).Name())
	if err != nil {
		return nil, err
	}
	defer leave()
	evidence := &explain.Evidence{
		URL: parsed, Seen: in.Body.Status,
		BaseDomains: s.options.BaseDomains,
	}
	if evidence.Claimants, err = s.visible(ctx, explain.Claimants(s.darkrooms.All(), parsed.Host, s.options.Hosts)); err != nil {
		return nil, err
	}
	holder, err := s.holderOf(ctx, parsed.Host)
	if err != nil {
		return nil, err
	}
	evidence.HolderKnown, evidence.Holder = holder.Known, ptr.Deref(holder.Darkroom, types.NamespacedName{})
	explain.Cluster{API: s.auth.Clients.Core, HTTP: s.auth.Clients.HTTP}.Collect(ctx, evidence)
	return reply.With(*explain.Decide(evidence)), nil
}

// visible returns the Darkrooms that the caller may get.
func (s *Server) visible(ctx context.Context, darkrooms []*v1alpha1.Darkroom) ([]*v1alpha1.Darkroom, error) {
	var out []*v1alpha1.Darkroom
	for _, darkroom := range darkrooms[:min(len(darkrooms), maxExplained)] {
		allowed, err := s.auth.Access.May(ctx, auth.ToDarkrooms("get", darkroom.Namespace, darkroom.Name))
		if err != nil {
			return nil, err
		}
		if allowed {
			out = append(out, darkroom)
		}
	}
	return out, nil
}
