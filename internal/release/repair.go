package release

import (
	"errors"
	"fmt"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// Reconcile restores the objects of a deployed release, whose summary it receives, and
// removes surplus ones. The objects are those that were rendered in this reconcile: the stored
// manifest is never applied. While nothing differs it costs no request.
func (c *actionClient) Reconcile(release *helmrelease.Release) error {
	desired, inSync, err := c.inSync(release.Manifest)
	if err != nil {
		return err
	}
	c.memory.rendering.Compact()
	if inSync {
		return c.removeSurplus(desired)
	}
	objects, err := c.objects(release.Manifest)
	if err != nil {
		return fmt.Errorf("repair release %s: %w", c.key, err)
	}
	var repaired []string
	var errs []error
	for _, object := range objects {
		changed, err := c.repair(object)
		if err != nil {
			// An object that cannot be repaired does not stop the repair of the others.
			errs = append(errs, fmt.Errorf("repair release %s: %w", c.key, err))
		}
		if changed {
			repaired = append(repaired, manifest.KeyOf(object).String())
		}
	}
	if len(errs) == 0 {
		desired = manifest.Keys(objects)
		c.memory.objects.MarkInSync(release.Manifest, desired)
		errs = append(errs, c.removeSurplus(desired))
	}
	if len(repaired) > 0 {
		c.Recorder.Event(c.darkroom, false, EventRepaired, "Restored after a change by another client: "+strings.Join(repaired, ", "))
	}
	return errors.Join(errs...)
}

// objects returns the rendered objects of the deployed release, given by the identity of its
// manifest.
func (c *actionClient) objects(identity string) ([]*unstructured.Unstructured, error) {
	desired, err := c.rendered()
	if err != nil {
		return nil, err
	}
	if digest.Identity(desired.Manifest) != identity {
		return nil, ErrBusy
	}
	return manifest.Parse(desired.Manifest, c.key.Namespace)
}

// inSync reports whether no object of a manifest has to be restored now, and returns the
// keys of the objects.
func (c *actionClient) inSync(identity string) ([]manifest.Key, bool, error) {
	desired, known := c.memory.objects.InSync(identity)
	if !known {
		return nil, false, nil
	}
	for _, key := range desired {
		live, err := c.Live(c.ctx, key.GroupKind, client.ObjectKey{Namespace: c.key.Namespace, Name: key.Name})
		if client.IgnoreNotFound(err) != nil {
			return nil, false, fmt.Errorf("look for %s: %w", key, err)
		}
		if err == nil && live != nil {
			if trace, found := c.memory.objects.Trace(key); found && trace.Fits(live) {
				continue
			}
		}
		if !c.memory.objects.Held(key, c.Clock.Now()) {
			return nil, false, nil
		}
	}
	return desired, true, nil
}

// repair applies an object unless it is as it should be, or is not to be restored now. It
// reports whether the object was missing or different.
func (c *actionClient) repair(object *unstructured.Unstructured) (bool, error) {
	key := manifest.KeyOf(object)
	live, err := c.Live(c.ctx, key.GroupKind, client.ObjectKeyFromObject(object))
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("look for %s: %w", key, err)
	}
	missing := apierrors.IsNotFound(err)
	trace, traced := c.memory.objects.Trace(key)
	if missing && traced {
		// The cache may not show a new object yet.
		if live, missing, err = c.stillThere(object, trace); err != nil {
			return false, err
		}
	}
	if live != nil && c.memory.objects.Unchanged(object, live) {
		return false, nil
	}
	if c.memory.objects.Held(key, c.Clock.Now()) {
		return false, nil
	}
	writer := ""
	if c.nearlyContested(key) {
		writer = c.lastWriter(object)
	}
	now, err := c.applier().put(c.ctx, object)
	if err != nil {
		return false, err
	}
	changed := missing || hasChanged(live, now, trace, traced)
	if changed {
		c.brake(key, writer)
	} else {
		c.memory.objects.Confirmed(key, c.Clock.Now())
	}
	return changed, nil
}

// hasChanged reports whether the apply of an object changed it: permitted additions by others
// make an object differ from its trace, and the apply changes nothing. live is the object before
// that, as the caches show it, if they do.
func hasChanged(live, now metav1.Object, trace drift.Trace, traced bool) bool {
	if live != nil && !(traced && trace.NewerThan(live)) {
		return drift.Differ(live, now)
	}
	return traced && trace.Differs(now)
}

// stillThere asks the API server for an object that was applied and that the cache does not
// show. It reports whether the object is missing.
func (c *actionClient) stillThere(object *unstructured.Unstructured, trace drift.Trace) (metav1.Object, bool, error) {
	existing, err := c.applier().readOwned(c.ctx, object.GroupVersionKind(), object.GetName())
	if err != nil || existing == nil || existing.UID != trace.UID {
		return nil, err == nil, err
	}
	return existing, false, nil
}

// brake slows down the repairs of an object that another writer keeps changing, and records
// an event when that begins.
func (c *actionClient) brake(key manifest.Key, writer string) {
	contest, contested := c.memory.objects.Repaired(key, writer, c.Clock.Now())
	if !contested || contest.Repairs > drift.ContestedAfter {
		return
	}
	c.Recorder.Event(c.darkroom, true, EventContested, ContestMessage(contest))
}

// ContestMessage describes a contest to the users of a Darkroom.
func ContestMessage(contest drift.Contest) string {
	writer := "another writer"
	if contest.Writer != "" {
		writer = fmt.Sprintf("field manager %q", contest.Writer)
	}
	return fmt.Sprintf("%s is changed repeatedly by %s and was restored %d times; restoring it is suspended until %s. "+
		"Configure that writer to ignore the object, or pause the Darkroom.",
		contest.Object, writer, contest.Repairs, contest.Until.UTC().Format("15:04:05 MST"))
}

// nearlyContested reports whether the next repair of an object may begin or continue a
// contest, so that it is worth a request to find out who the other writer is.
func (c *actionClient) nearlyContested(key manifest.Key) bool {
	return c.memory.objects.Repairs(key) >= drift.ContestedAfter-1
}

// lastWriter returns the field manager that changed an object last; empty if that cannot be
// found out.
func (c *actionClient) lastWriter(object *unstructured.Unstructured) string {
	existing := &metav1.PartialObjectMetadata{}
	existing.SetGroupVersionKind(object.GroupVersionKind())
	if err := c.Reader.Get(c.ctx, client.ObjectKeyFromObject(object), existing); err != nil {
		return ""
	}
	return drift.LastWriter(FieldManager, existing.ManagedFields)
}
