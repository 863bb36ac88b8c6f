package apiserver

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

const (
	// renderTimeout bounds the rendering of Darkrooms for one request.
	renderTimeout = 10 * time.Second
	// renderWait is how long a request waits until its caller may render again.
	renderWait = 5 * time.Second
	// rendersPerSecond and renderBurst limit each caller: rendering takes a processor
	// for some tens of milliseconds, and one caller would keep it busy.
	rendersPerSecond, renderBurst = 2, 10
)

type manifestOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// concealedInSecret is the mark as the data of a Secret holds it.
var concealedInSecret = base64.StdEncoding.EncodeToString([]byte(wire.Redacted))

// manifest renders what the operator would install. The journal knows no secrets, so
// the manifest has the mark in their place.
func (s *Server) manifest(ctx context.Context, in *PathInput) (*manifestOutput, error) {
	darkroom, err := s.readable(ctx, in.key())
	if err != nil {
		return nil, err
	}
	return s.manifestOf(ctx, darkroom.DeepCopy())
}

type renderInput struct {
	PathInput
	RawBody []byte
}

// proposal is a change as a caller is about to send it, without secrets.
type proposal struct {
	// before is what there is; nil if there is none.
	before *v1alpha1.Darkroom
	wanted *v1alpha1.Darkroom
	// newSecrets is set if write-only values were sent: whether they differ from the
	// stored ones is not known here.
	newSecrets bool
}

// propose reads a proposal, and checks it against the limits of the cluster. Secrets
// that were sent are concealed, so that nothing further on can show them.
func (s *Server) propose(ctx context.Context, in *renderInput) (*proposal, error) {
	key := in.key()
	out := &proposal{}
	var err error
	out.before, err = s.readable(ctx, key)
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
	before := out.before
	if before == nil {
		before = &v1alpha1.Darkroom{}
	}
	out.wanted, out.newSecrets = wire.Expand(input, before), input.SendsSecrets()
	wire.Conceal(out.wanted)
	return out, nil
}

// renderManifest renders a Darkroom before it is saved.
func (s *Server) renderManifest(ctx context.Context, in *renderInput) (*manifestOutput, error) {
	proposal, err := s.propose(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.manifestOf(ctx, proposal.wanted)
}

func (s *Server) manifestOf(ctx context.Context, darkroom *v1alpha1.Darkroom) (*manifestOutput, error) {
	manifests, err := s.render(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	return &manifestOutput{ContentType: "application/yaml", Body: []byte(manifests[0])}, nil
}

// render renders Darkrooms that have no secrets, and puts the mark in their place.
//
// The input must be within the limits of the cluster, because the cost grows with its size.
// The number of concurrent renderings is limited, in total and per caller. If the caller
// disconnects, rendering stops at its next step.
func (s *Server) render(ctx context.Context, darkrooms ...*v1alpha1.Darkroom) ([]string, error) {
	who := auth.CallerOf(ctx).Name()
	if err := s.renderRates.Wait(ctx, who, renderWait); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, renderTimeout)
	leave, err := s.renderings.Enter(ctx, who)
	if err != nil {
		cancel()
		return nil, notInTime(ctx, err)
	}
	type result struct {
		manifests []string
		err       error
	}
	done := make(chan result, 1)
	go func() {
		defer cancel()
		defer leave()
		var out result
		for _, darkroom := range darkrooms {
			var manifest string
			if out.err = s.definition.check(ctx, darkroom); out.err == nil {
				manifest, out.err = s.preview(ctx, darkroom)
			}
			if out.err != nil {
				break
			}
			out.manifests = append(out.manifests, manifest)
		}
		done <- out
	}()
	select {
	case out := <-done:
		return out.manifests, notInTime(ctx, out.err)
	case <-ctx.Done():
		return nil, notInTime(ctx, ctx.Err())
	}
}

func (s *Server) preview(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	rendered, err := s.options.Preview(ctx, darkroom)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", wire.FromTranslator(err)
	}
	return strings.ReplaceAll(rendered, concealedInSecret, wire.Redacted), nil
}

// notInTime makes the end of a context a problem.
func notInTime(ctx context.Context, err error) error {
	if err != nil && errors.Is(err, ctx.Err()) {
		return problem.Unavailable("the manifest could not be rendered in time; try again")
	}
	return err
}
