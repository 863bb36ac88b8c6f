package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gomodules.xyz/jsonpatch/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// errStale is returned if the Darkroom has changed since it was cached.
var errStale = errors.New("the Darkroom has changed since it was read")

// patcher patches the metadata of Darkrooms.
type patcher struct {
	client   client.Client
	uncached client.Reader
}

// patch applies a JSON patch to the metadata of a Darkroom. The operations have to test the values that they replace;
// patch adds a test of the UID. The error is errStale if a test failed because the Darkroom has changed. The API server
// reports failed tests and rejections by policies with the same status, so patch reads the Darkroom to distinguish
// them.
func (p patcher) patch(
	ctx context.Context, darkroom *v1alpha1.Darkroom, operations ...jsonpatch.Operation,
) (*v1alpha1.Darkroom, error) {
	operations = append([]jsonpatch.Operation{jsonpatch.NewOperation("test", "/metadata/uid", darkroom.UID)},
		operations...)
	raw, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("encode patch of Darkroom %s: %w", client.ObjectKeyFromObject(darkroom), err)
	}
	patched := darkroom.DeepCopy()
	refusal := p.client.Patch(ctx, patched, client.RawPatch(types.JSONPatchType, raw))
	if !apierrors.IsInvalid(refusal) {
		return patched, refusal
	}
	now := &v1alpha1.Darkroom{}
	switch err := p.uncached.Get(ctx, client.ObjectKeyFromObject(darkroom), now); {
	case err != nil:
		return nil, err
	case now.UID != darkroom.UID || now.ResourceVersion != darkroom.ResourceVersion:
		return nil, fmt.Errorf("%w: %w", errStale, refusal)
	}
	return nil, refusal
}
