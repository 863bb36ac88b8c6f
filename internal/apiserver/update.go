package apiserver

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/outcome"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

type updateInput struct {
	PathInput
	DryRunInput
	// IfMatch is never empty: wholeIfMatch refuses such requests first, with 428.
	IfMatch string `header:"If-Match" required:"true" doc:"ETag of the version to change"`
	RawBody []byte
}

func (s *Server) replace(ctx context.Context, in *updateInput) (*reply.Darkroom, error) {
	return s.updateFromBody(ctx, in, func(*v1alpha1.Darkroom) any { return nil })
}

// patch merges a body into the current Darkroom, and replaces the Darkroom: a patch of Kubernetes can neither keep
// write-only values nor compare an ETag.
func (s *Server) patch(ctx context.Context, in *updateInput) (*reply.Darkroom, error) {
	return s.updateFromBody(ctx, in, func(before *v1alpha1.Darkroom) any { return wire.Flatten(before) })
}

// updateFromBody replaces a Darkroom with the body merged into base.
func (s *Server) updateFromBody(
	ctx context.Context, in *updateInput, base func(before *v1alpha1.Darkroom) any,
) (*reply.Darkroom, error) {
	key := in.key()
	return s.update(ctx, key, in.IfMatch, &in.DryRunInput, func(before *v1alpha1.Darkroom) (*v1alpha1.Darkroom, error) {
		input, err := s.decoder.Decode(in.RawBody, base(before))
		if err != nil {
			return nil, err
		}
		if err := checkIdentity(input, key); err != nil {
			return nil, err
		}
		return wire.Expand(input, before), nil
	})
}

// update changes a Darkroom, and tries again after conflicts. It reads and writes the Darkroom with the caller's own
// token, because the cache does not contain write-only values.
func (s *Server) update(ctx context.Context, key types.NamespacedName, ifMatch string, dryRun *DryRunInput,
	change func(before *v1alpha1.Darkroom) (*v1alpha1.Darkroom, error),
) (*reply.Darkroom, error) {
	var made *outcome.Change
	err := retryOnConflict(func() (err error) {
		made, err = s.tryUpdate(ctx, key, ifMatch, dryRun, change)
		return err
	}, problem.New(http.StatusConflict, "the Darkroom is being changed by other clients; try again"))
	if err != nil {
		return nil, err
	}
	s.awaitRead(ctx, made.After, dryRun.DryRun != "")
	out := reply.WithDarkroom(made.After)
	out.Warning, err = s.warnings(ctx, dryRun, made)
	return out, err
}

// tryUpdate is one attempt of update. A conflict is returned as the error of Kubernetes; all other errors are problems.
func (s *Server) tryUpdate(ctx context.Context, key types.NamespacedName, ifMatch string, dryRun *DryRunInput,
	change func(before *v1alpha1.Darkroom) (*v1alpha1.Darkroom, error),
) (*outcome.Change, error) {
	before, err := s.readAsCaller(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := wire.CheckIfMatch(ifMatch, before); err != nil {
		return nil, err
	}
	wanted, err := change(before)
	if err != nil {
		return nil, err
	}
	stored := &v1alpha1.Darkroom{}
	err = s.auth.Clients.Darkrooms.Put().Namespace(key.Namespace).Resource(plural).Name(key.Name).
		VersionedParams(&metav1.UpdateOptions{
			DryRun: dryRun.list(), FieldManager: managerOf(ctx),
			FieldValidation: metav1.FieldValidationStrict,
		}, s.auth.Clients.Parameters).
		Body(wanted).MaxRetries(0).Do(ctx).Into(stored)
	if err != nil && !apierrors.IsConflict(err) {
		err = s.withAllErrors(ctx, reply.FromKubernetes(err, key, wire.Redactor(before, wanted)), wanted, before)
	}
	return &outcome.Change{Before: before, After: stored}, err
}

// checkIdentity returns a problem for a name or namespace that does not match the path, and sets omitted ones.
func checkIdentity(input *wire.DarkroomInput, key types.NamespacedName) error {
	var bad []problem.Field
	if input.Name != "" && input.Name != key.Name {
		bad = append(bad, problem.Field{
			Location: "body.name",
			Message:  "must match the name in the path or be omitted: a Darkroom cannot be renamed",
		})
	}
	if input.Namespace != "" && input.Namespace != key.Namespace {
		bad = append(bad, problem.Field{
			Location: "body.namespace",
			Message:  "must match the namespace in the path or be omitted: a Darkroom cannot be moved",
		})
	}
	if len(bad) > 0 {
		return problem.New(http.StatusUnprocessableEntity, "name or namespace in the body does not match the path", bad...)
	}
	input.Name, input.Namespace = key.Name, key.Namespace
	return nil
}
