package apiserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

const (
	// renderTimeout limits the time to render a manifest.
	renderTimeout = 10 * time.Second
	// renderWait is the longest wait for the rate limit of renderings.
	renderWait = 5 * time.Second
	// maxRendered limits the size of a rendered Darkroom, in bytes of JSON, because the CRD does not limit all maps.
	// Kubernetes has the same limit for annotations.
	maxRendered = 256 << 10
)

// concealedInSecret is wire.Redacted as the data of a Secret.
var concealedInSecret = base64.StdEncoding.EncodeToString([]byte(wire.Redacted))

// manifest renders the objects that the operator would install. Secrets are redacted, because this server does not
// store them.
func (s *Server) manifest(ctx context.Context, in *PathInput) (*reply.Content, error) {
	darkroom, err := s.readable(ctx, in.key())
	if err != nil {
		return nil, err
	}
	manifest, err := s.render(ctx, darkroom.DeepCopy())
	if err != nil {
		return nil, err
	}
	return &reply.Content{ContentType: "application/yaml", Body: []byte(manifest)}, nil
}

// render renders a Darkroom without its secrets, and puts the mark in their place.
//
// The input must be within the limits of the cluster, because the cost grows with its size.
// The number of concurrent renderings is limited, in total and per caller. If the caller
// disconnects, rendering stops at its next step.
func (s *Server) render(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	who := auth.CallerOf(ctx).Name()
	if err := s.limits.RenderRates.Wait(ctx, who, renderWait); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, renderTimeout)
	defer cancel()
	leave, err := s.limits.Renderings.Enter(ctx, who)
	if err != nil {
		return "", notInTime(ctx, err)
	}
	type result struct {
		manifest string
		err      error
	}
	done := make(chan result, 1)
	go func() {
		defer leave()
		var out result
		if out.err = s.check(ctx, darkroom); out.err == nil {
			out.manifest, out.err = s.preview(ctx, darkroom)
		}
		done <- out
	}()
	select {
	case out := <-done:
		return out.manifest, notInTime(ctx, out.err)
	case <-ctx.Done():
		return "", notInTime(ctx, ctx.Err())
	}
}

// check validates a Darkroom as the cluster would.
func (s *Server) check(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	raw, err := json.Marshal(darkroom)
	if err != nil {
		return fmt.Errorf("encode Darkroom: %w", err)
	}
	if len(raw) > maxRendered {
		return problem.New(http.StatusUnprocessableEntity,
			fmt.Sprintf("the Darkroom is too large to render: %d bytes, limit %d", len(raw), maxRendered))
	}
	err = s.definition.Check(ctx, darkroom)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return wire.FromKubernetes(err, wire.Redactor(darkroom))
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

// notInTime converts the error of an expired context to a problem.
func notInTime(ctx context.Context, err error) error {
	if err != nil && errors.Is(err, ctx.Err()) {
		return problem.Unavailable("the manifest could not be rendered in time; try again")
	}
	return err
}
