package apiserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/outcome"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

const (
	// maxSecrets limits the Secrets of one review, because each takes a request.
	maxSecrets = 8
	// secretTimeout limits the time to read all Secrets.
	secretTimeout = 5 * time.Second
)

// Review is the result of a review.
type Review struct {
	Manifest string          `json:"manifest" doc:"Kubernetes manifests in YAML; REDACTED replaces secrets"`
	Outcome  outcome.Outcome `json:"outcome"`
}

type reviewInput struct {
	PathInput
	RawBody []byte
}

// propose decodes a change. It conceals the secrets in it, so that no response can contain them.
func (s *Server) propose(ctx context.Context, in *reviewInput) (*outcome.Change, error) {
	key := in.key()
	out := &outcome.Change{}
	var err error
	out.Before, err = s.readable(ctx, key)
	var refusal *problem.Details
	switch {
	case errors.As(err, &refusal) && refusal.Status == http.StatusNotFound && s.serves(key.Namespace):
	case err != nil:
		return nil, err
	}
	input, err := s.decoder.Decode(in.RawBody, nil)
	if err != nil {
		return nil, err
	}
	if err := checkIdentity(input, key); err != nil {
		return nil, err
	}
	before := out.Before
	if before == nil {
		before = &v1alpha1.Darkroom{}
	}
	out.After, out.NewSecrets = wire.Expand(input, before), input.SendsSecrets()
	wire.Conceal(out.After)
	return out, nil
}

// review renders a Darkroom before it is saved, and predicts the effects.
func (s *Server) review(ctx context.Context, in *reviewInput) (*reply.JSON[Review], error) {
	change, err := s.propose(ctx, in)
	if err != nil {
		return nil, err
	}
	out := Review{}
	if out.Manifest, err = s.render(ctx, change.After); err != nil {
		return nil, err
	}
	if out.Outcome.Hosts, err = s.hosts(ctx, change); err != nil {
		return nil, err
	}
	out.Outcome.Secrets = s.reviewSecrets(ctx, change.After)
	if out.Outcome.Pods, err = s.reviewPods(ctx, change, out.Manifest); err != nil {
		return nil, err
	}
	return reply.With(out), nil
}

// reviewSecrets reads Secrets with the caller's own token, because the server's token cannot.
func (s *Server) reviewSecrets(ctx context.Context, darkroom *v1alpha1.Darkroom) []outcome.SecretOutcome {
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	needed := outcome.Secrets(darkroom)
	for i := range needed[:min(len(needed), maxSecrets)] {
		secret := &corev1.Secret{}
		err := s.auth.Clients.Core.Get().Namespace(darkroom.Namespace).Resource("secrets").Name(needed[i].Name).
			MaxRetries(0).Do(ctx).Into(secret)
		needed[i].Read(secret, err)
	}
	return needed
}

// reviewPods compares the manifest with the manifest of the existing Darkroom. If the existing Darkroom is invalid by a
// newer rule, the result is unknown, so that the Darkroom can still be fixed.
func (s *Server) reviewPods(ctx context.Context, change *outcome.Change, manifest string) (string, error) {
	if change.Before == nil {
		return outcome.PodsCreate, nil
	}
	existing, err := s.render(ctx, change.Before.DeepCopy())
	switch {
	case ctx.Err() != nil:
		return "", err
	case err != nil:
		return outcome.PodsUnknown, nil
	}
	return change.Pods(existing, manifest)
}
