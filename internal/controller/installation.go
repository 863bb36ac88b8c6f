package controller

import (
	"context"
	"fmt"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// EventClaimRefused is the reason of the event on a Darkroom that the operator cannot claim because the API server
// rejects the finalizer or the annotation.
const EventClaimRefused = "ClaimRefused"

// DefaultInstallation is the name of an installation if none is configured.
const DefaultInstallation = "local"

// installation separates several installations of the operator in one cluster. The first installation that reconciles a
// Darkroom writes its name into the annotation AnnotationInstallation, and the others ignore the Darkroom. All shards
// of an installation have the same name. Users can change the annotation to move a Darkroom to another installation,
// which takes over the objects as after a restart.
type installation struct {
	patcher

	name string
}

// handles reports whether this installation has claimed a Darkroom.
func (i *installation) handles(darkroom *v1alpha1.Darkroom) bool {
	return v1alpha1.HandledBy(darkroom) == i.name
}

// claim reports whether this installation handles a Darkroom, and claims an unclaimed one. The request that writes the
// claim also adds the finalizer. The error is errStale if the cached Darkroom is outdated.
func (i *installation) claim(ctx context.Context, darkroom *v1alpha1.Darkroom) (bool, error) {
	switch {
	case !v1alpha1.MayBeHandledBy(i.name, darkroom):
		return false, nil
	case darkroom.Annotations[v1alpha1.AnnotationInstallation] == "":
		return true, i.write(ctx, darkroom)
	default:
		return true, nil
	}
}

// write writes the claim, and the finalizer unless the Darkroom is being deleted. It fails if the cached Darkroom is
// outdated.
func (i *installation) write(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	patch := []jsonpatch.Operation{jsonpatch.NewOperation("test", "/metadata/resourceVersion", darkroom.ResourceVersion)}
	if len(darkroom.Annotations) == 0 {
		patch = append(patch, jsonpatch.NewOperation("add", "/metadata/annotations",
			map[string]string{v1alpha1.AnnotationInstallation: i.name}))
	} else {
		patch = append(patch, jsonpatch.NewOperation("add",
			"/metadata/annotations/"+strings.ReplaceAll(v1alpha1.AnnotationInstallation, "/", "~1"), i.name))
	}
	if darkroom.DeletionTimestamp == nil && !controllerutil.ContainsFinalizer(darkroom, finalizer) {
		patch = append(patch, jsonpatch.NewOperation("add", "/metadata/finalizers", append(darkroom.Finalizers, finalizer)))
	}
	patched, err := i.patch(ctx, darkroom, patch...)
	if err != nil {
		return fmt.Errorf("claim Darkroom %s: %w", client.ObjectKeyFromObject(darkroom), err)
	}
	darkroom.ObjectMeta = patched.ObjectMeta
	return nil
}
