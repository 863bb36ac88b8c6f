//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

const imagePath = images.Path

var (
	front         = images.Client
	through       = images.Get
	servesThrough = images.Served
)

// serves returns an error unless a host serves the image with a width through the Ingress; 0 means the original width.
func serves(ctx context.Context, host string, width int) error {
	return servesThrough(ctx, ingressURL, host, width)
}

// waitServing waits until each of a Darkroom's hosts serves a resized image
// through the Ingress.
func waitServing(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	waitServingThrough(t, ingressURL, darkroom)
}

// waitServingThrough is like waitServing, for requests to the server at a URL.
func waitServingThrough(t *testing.T, url string, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	for _, subDomain := range darkroom.Spec.SubDomains {
		host := subDomain + "." + baseDomain
		eventually(t, host+" serves at "+url, func(ctx context.Context) error { return servesThrough(ctx, url, host, 90) })
	}
}

// waitStatus waits until a host responds with a status to a request for a resized image through the Ingress.
func waitStatus(t *testing.T, host string, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s: got status %d", host, want), func(ctx context.Context) error {
		status, body, err := through(ctx, ingressURL, host, imagePath+"?w=90")
		if err == nil && status != want {
			err = fmt.Errorf("got status %d: %.200q", status, body)
		}
		return err
	})
}
