package controller

import (
	"context"

	"gomodules.xyz/jsonpatch/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// finalizer is the finalizer of the Helm reconciler. The installation adds it with its claim (installation.go). The
// Helm reconciler removes it after the uninstall, by writeFinalizers.
const finalizer = "uninstall-helm-release"

// writeFinalizers writes the finalizers of an object to the session's Darkroom. The patch tests UID and
// finalizers, so it neither fails because the status changed nor reverts changes by others.
func (c *helmClient) writeFinalizers(ctx context.Context, object client.Object) error {
	if c.refusal != nil {
		return c.refusal
	}
	s := c.session
	if s.darkroom.DeletionTimestamp != nil {
		// While the Darkroom exists: nothing tells of its hosts afterwards.
		if err := s.helm.hosts.GiveUp(ctx, client.ObjectKeyFromObject(s.darkroom)); err != nil {
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
		change = jsonpatch.NewOperation("add", path, after)
	}
	patched, err := s.helm.patcher.patch(ctx, s.darkroom, test, change)
	if apierrors.IsNotFound(err) && s.darkroom.DeletionTimestamp != nil {
		// It is gone already, and the cache does not show it yet.
		s.uninstalled, s.gone = true, true
		return nil
	}
	if isRefusal(err) {
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
