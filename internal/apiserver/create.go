package apiserver

import (
	"cmp"
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/outcome"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

type createInput struct {
	DryRunInput
	RawBody []byte
}

func (s *Server) create(ctx context.Context, in *createInput) (*reply.Created, error) {
	input, err := s.decoder.Decode(in.RawBody, nil)
	if err != nil {
		return nil, err
	}
	input.Namespace = cmp.Or(input.Namespace, defaultNamespace)
	wanted := wire.Expand(input, &v1alpha1.Darkroom{})
	if bad := checkNames(input); len(bad) > 0 {
		return nil, s.withAllErrors(ctx,
			problem.New(http.StatusUnprocessableEntity, "the Darkroom is invalid; see errors", bad...), wanted, nil)
	}
	if err := s.requireServed(input.Namespace); err != nil {
		return nil, err
	}
	stored := &v1alpha1.Darkroom{}
	err = s.auth.Clients.Darkrooms.Post().Namespace(wanted.Namespace).Resource(plural).
		VersionedParams(&metav1.CreateOptions{
			DryRun: in.list(), FieldManager: managerOf(ctx),
			FieldValidation: metav1.FieldValidationStrict,
		}, s.auth.Clients.Parameters).
		Body(wanted).MaxRetries(0).Do(ctx).Into(stored)
	if err != nil {
		return nil, s.withAllErrors(ctx, wire.FromKubernetes(err, wire.Redactor(wanted)), wanted, nil)
	}
	s.awaitRead(ctx, stored, in.DryRun != "")
	out := reply.WithCreated(stored)
	out.Warning, err = s.warnings(ctx, &in.DryRunInput, &outcome.Change{After: stored})
	return out, err
}

// checkNames checks that a new Darkroom has a name and a valid namespace, without which no request can be sent to
// Kubernetes. Kubernetes validates the name.
func checkNames(input *wire.DarkroomInput) (bad []problem.Field) {
	if input.Name == "" {
		bad = append(bad, problem.Field{Location: "body.name", Message: "required, for example photos"})
	}
	if problems := validation.IsDNS1123Label(input.Namespace); len(problems) > 0 {
		bad = append(bad, problem.Field{Location: "body.namespace", Message: problems[0]})
	}
	return bad
}
