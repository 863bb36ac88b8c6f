package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/signing"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// SignedURL is the URL of an image, without scheme and host.
type SignedURL struct {
	URL    string `json:"url" doc:"Path and query, with the signature s if URLs of the Darkroom are signed"`
	Signed bool   `json:"signed" doc:"Whether the URL has a signature; false for a Darkroom without gate.signing"`
}

type signInput struct {
	ImageInput

	Expires int64 `query:"expires" minimum:"1" maximum:"315360000" doc:"Number of seconds for which the URL is valid; by default it does not expire"`
}

// signURL signs with the first key in the Secret. It reads the Secret with the caller's own token.
func (s *Server) signURL(ctx context.Context, in *signInput) (*reply.JSON[SignedURL], error) {
	darkroom, err := s.readable(ctx, in.key())
	if err != nil {
		return nil, err
	}
	of, err := imagePath(in.Path)
	if err != nil {
		return nil, err
	}
	if err := in.bounds(); err != nil {
		return nil, err
	}
	var expires time.Time
	if in.Expires > 0 {
		expires = time.Now().Add(time.Duration(in.Expires) * time.Second)
	}
	target := url.URL{Path: of, RawQuery: in.query().Encode()}
	if name, _ := values.SigningSecret(darkroom.Spec.Gate); name == "" {
		return reply.With(SignedURL{URL: target.String()}), nil
	}
	signed, err := s.sign(ctx, darkroom, target, expires)
	if err != nil {
		return nil, err
	}
	return reply.With(SignedURL{URL: signed.String(), Signed: true}), nil
}

// sign signs a URL of a Darkroom.
func (s *Server) sign(
	ctx context.Context, darkroom *v1alpha1.Darkroom, target url.URL, expires time.Time,
) (*url.URL, error) {
	name, key := values.SigningSecret(darkroom.Spec.Gate)
	secret := &corev1.Secret{}
	err := s.auth.Clients.Core.Get().Namespace(darkroom.Namespace).Resource("secrets").Name(name).
		MaxRetries(0).Do(ctx).Into(secret)
	switch {
	case apierrors.IsForbidden(err):
		return nil, problem.New(http.StatusForbidden, fmt.Sprintf(
			"URLs of this Darkroom are signed: you need permission to get the Secret %q in the namespace %q",
			name, darkroom.Namespace))
	case apierrors.IsNotFound(err):
		return nil, problem.New(http.StatusNotFound, fmt.Sprintf(
			"the Secret %q of gate.signing does not exist in the namespace %q", name, darkroom.Namespace))
	case err != nil:
		return nil, wire.FromKubernetes(err, wire.AsIs)
	}
	first, err := signing.FirstKey(string(secret.Data[key]))
	if err != nil {
		return nil, problem.New(http.StatusUnprocessableEntity, fmt.Sprintf("key %q of the Secret %q: %v", key, name, err))
	}
	return signing.Sign(first, target, expires), nil
}
