package controller

import (
	"context"

	"gomodules.xyz/jsonpatch/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// finalizer is the finalizer of the Helm reconciler. The installation adds it together with its claim
// (installation.go). The Helm reconciler removes it after the uninstall (internal/release/uninstall.go), through
// writeFinalizers.
const finalizer = "uninstall-helm-release"

// writeFinalizers patches the finalizers of the session's Darkroom to equal the object's. The patch tests the UID and
// the previous finalizers. So it does not conflict with status updates, and it never reverts changes by others.
func (c *helmClient) writeFinalizers(ctx context.Context, object client.Object) error {
	if c.refusal != nil {
		return c.refusal
	}
	s := c.session
	if s.darkroom.DeletionTimestamp != nil {
		// Hosts are released first, because the spec that lists them disappears with the Darkroom.
		if err := s.helm.hosts.GiveUpUnused(ctx, client.ObjectKeyFromObject(s.darkroom)); err != nil {
			return err
		}
	}
	const path = "/metadata/finalizers"
	test := jsonpatch.NewOperation("test", "/metadata/resourceVersion", s.darkroom.ResourceVersion)
	if before := s.darkroom.Finalizers; len(before) > 0 {
		test = jsonpatch.NewOperation("test", path, before)
	}
	change := jsonpatch.NewOperation("remove", path, nil)
	if after := object.GetFinalizers(); len(after) > 0 {
		// An add replaces an existing value.
		change = jsonpatch.NewOperation("add", path, after)
	}
	patched, err := s.helm.patcher.patch(ctx, s.darkroom, test, change)
	if apierrors.IsNotFound(err) && s.darkroom.DeletionTimestamp != nil {
		// The Darkroom is already gone, but still cached.
		s.uninstalled, s.gone = true, true
		return nil
	}
	if outcomeOf(err).refused {
		c.refusal = err
	}
	if err != nil {
		return err
	}
	s.uninstalled = patched.DeletionTimestamp != nil
	s.gone = s.uninstalled && len(patched.Finalizers) == 0
	s.darkroom.Finalizers = patched.Finalizers
	s.darkroom.ResourceVersion = patched.ResourceVersion
	object.SetResourceVersion(patched.ResourceVersion)
	return nil
}
