package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// errStale is returned if a Darkroom was written after the cached version.
var errStale = errors.New("the Darkroom has changed since it was read")

// patchMetadata changes some metadata of a Darkroom. The error is errStale if the Darkroom is no longer as it
// was read.
func patchMetadata(
	ctx context.Context, writer client.Writer, darkroom *v1alpha1.Darkroom, change map[string]any,
) error {
	change["uid"], change["resourceVersion"] = darkroom.UID, darkroom.ResourceVersion
	raw, err := json.Marshal(map[string]any{"metadata": change})
	if err != nil {
		return fmt.Errorf("encode patch of Darkroom %s: %w", client.ObjectKeyFromObject(darkroom), err)
	}
	patched := darkroom.DeepCopy()
	err = writer.Patch(ctx, patched, client.RawPatch(types.MergePatchType, raw))
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("%w: %w", errStale, err)
	case err == nil:
		darkroom.ObjectMeta = patched.ObjectMeta
	}
	return err
}

// isRefusal reports whether the API server refuses a write until somebody changes something: a policy,
// a quota, permissions, or the Darkroom.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}
