package release

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// LiveLookup returns an object as a cache has it: nil and no error for a kind
// that is not cached, and the API's error NotFound for an object that is missing.
// The object is the cache's own, and must not be changed.
type LiveLookup func(ctx context.Context, kind schema.GroupVersionKind, key types.NamespacedName) (metav1.Object, error)

// Reconcile makes the objects of a deployed release, of which it is given the summary,
// what they should be. While nothing differs it costs no request.
func (c *actionClient) Reconcile(release *helmrelease.Release) error {
	verifying := c.drift.expire(c.key, time.Now(), c.VerifyPeriod)
	applier := c.applier()
	wanted, settled, err := applier.settled(c.ctx, release.Manifest)
	if err != nil {
		return err
	}
	c.Renderer.Compact(c.key)
	if settled {
		return c.tidyUp(wanted)
	}
	stored, err := c.Store.Read(c.ctx, c.key)
	if err != nil {
		return fmt.Errorf("repair release %s: %w", c.key, err)
	}
	if identityOf(stored.Manifest) != release.Manifest {
		return fmt.Errorf("repair release %s: it %w", c.key, ErrBusy)
	}
	objects, err := parseManifest(stored.Manifest, c.key.Namespace)
	if err != nil {
		return fmt.Errorf("repair release %s: %w", c.key, err)
	}
	var repaired []string
	var errs []error
	for _, object := range objects {
		changed, err := applier.repair(c.ctx, object)
		if err != nil {
			// One that cannot be repaired does not keep the others from it.
			errs = append(errs, fmt.Errorf("repair release %s: %w", c.key, err))
		}
		if changed {
			repaired = append(repaired, keyOf(object).String())
		}
	}
	if len(errs) == 0 {
		errs = append(errs, c.tidyUp(c.drift.settle(c.key, release.Manifest, objects)))
		if verifying {
			errs = append(errs, c.recordAnew())
		}
	}
	if len(repaired) > 0 {
		c.Recorder.Event(c.darkroom, false, EventRepaired, "Repaired after a change by hand: "+strings.Join(repaired, ", "))
	}
	return errors.Join(errs...)
}

// settled tells whether all objects of a manifest are known to be as they should be,
// and which those are.
func (a *applier) settled(ctx context.Context, manifest string) ([]objectKey, bool, error) {
	objects, known := a.drift.settledObjects(a.key, manifest)
	if !known {
		return nil, false, nil
	}
	for _, object := range objects {
		live, err := a.live(ctx, object.GroupVersionKind, types.NamespacedName{Namespace: a.key.Namespace, Name: object.name})
		if apierrors.IsNotFound(err) || err == nil && live == nil {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("look for %s: %w", object, err)
		}
		if trace, found := a.drift.trace(a.key, object); !found || !trace.fits(live) {
			return nil, false, nil
		}
	}
	return objects, true, nil
}

// repair applies an object unless the cache shows it as it should be. It tells
// whether the object was missing or other than wanted.
func (a *applier) repair(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	key := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	live, err := a.live(ctx, object.GroupVersionKind(), key)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return false, fmt.Errorf("look for %s: %w", keyOf(object), err)
	}
	if live != nil && !missing && a.drift.unchanged(a.key, object, live) {
		return false, nil
	}
	now, err := a.applyAlone(ctx, object)
	if err != nil {
		return false, err
	}
	return missing || live != nil && (live.GetUID() != now.GetUID() || stateOf(live) != stateOf(now)), nil
}

// expire forgets what is remembered of a release once in a period, give or take
// a tenth, so that it is verified against the API server and not the caches. It tells
// whether it did.
func (d *drift) expire(release types.NamespacedName, now time.Time, period time.Duration) bool {
	if period <= 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.of(release)
	if now.Before(known.verifyAt) {
		return false
	}
	expired := !known.verifyAt.IsZero()
	if expired {
		*known = memory{traces: map[objectKey]trace{}}
	}
	known.verifyAt = now.Add(period - period/10 + rand.N(period/5+1)) //nolint:gosec // spreads load, keeps no secret
	return expired
}
