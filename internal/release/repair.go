package release

import (
	"errors"
	"fmt"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// Reconcile restores the objects of a deployed release, whose summary it receives, and
// removes surplus ones. The objects are those that were rendered in this reconcile: the stored
// manifest is never applied. While nothing differs it costs no request.
func (c *ActionClient) Reconcile(release *helmrelease.Release) (err error) {
	defer func() {
		if err != nil && !isWaiting(err) {
			c.Metrics.RepairFailed()
		}
	}()
	desired, inSync, err := c.inSync(release.Manifest)
	if err != nil {
		return err
	}
	if inSync {
		return c.removeSurplus(desired)
	}
	objects, err := c.objects()
	if err != nil {
		return err
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
		c.Metrics.Repaired()
		c.Recorder.Event(c.darkroom, false, EventRepaired, "Restored after a change by another client: "+strings.Join(repaired, ", "))
	}
	return errors.Join(errs...)
}

// inSync reports whether no object of a manifest has to be restored now, and returns the
// keys of the objects.
func (c *ActionClient) inSync(identity string) ([]manifest.Key, bool, error) {
	desired := c.memory.objects.InSync(identity)
	if len(desired) == 0 && c.desired != nil && c.desired.manifest == identity {
		objects, err := c.objects()
		if err != nil {
			return nil, false, err
		}
		c.recall(identity, objects)
		desired = c.memory.objects.InSync(identity)
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
	return desired, len(desired) > 0, nil
}

// recall remembers the objects of a manifest that the caches show as an earlier process left them, by the digest in the
// status. A restarted operator would have to apply every object of every release to know that.
func (c *ActionClient) recall(identity string, objects []*unstructured.Unstructured) {
	deployed := c.darkroom.Status.DeployedRelease
	if deployed == nil || deployed.Digest == "" {
		return
	}
	c.memory.objects.Recall(deployed.Digest, identity, objects, func(object *unstructured.Unstructured) metav1.Object {
		live, err := c.applier().lookUp(c.ctx, object)
		if err != nil {
			return nil // an error that the repair will meet again
		}
		return live
	})
}

// repair applies an object unless it is as it should be, or is not to be restored now. It
// reports whether the object was missing or different.
func (c *ActionClient) repair(object *unstructured.Unstructured) (bool, error) {
	key := manifest.KeyOf(object)
	live, err := c.Live(c.ctx, key.GroupKind, client.ObjectKeyFromObject(object))
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("look for %s: %w", key, err)
	}
	if live != nil && c.memory.objects.Unchanged(object, live) {
		return false, nil
	}
	if _, traced := c.memory.objects.Trace(key); traced {
		// The cache may not show the operator's last write yet.
		existing, err := c.applier().readOwned(c.ctx, object.GroupVersionKind(), object.GetName())
		if err != nil {
			return false, err
		}
		if live = nil; existing != nil {
			if live = existing; c.memory.objects.Unchanged(object, live) {
				return false, nil
			}
		}
	}
	if c.memory.objects.Held(key, c.Clock.Now()) {
		return false, nil
	}
	writer := ""
	if c.memory.objects.Repairs(key) >= drift.ContestedAfter-1 {
		// The repair may begin or continue a contest, so it is worth a request to name the writer.
		writer = c.lastWriter(object)
	}
	now, err := c.applier().put(c.ctx, object)
	if err != nil {
		return false, err
	}
	// Permitted additions by others make an object differ, and the apply changes nothing.
	changed := live == nil || drift.Differ(live, now)
	if changed {
		c.brake(key, writer)
	} else {
		c.memory.objects.Confirmed(key, c.Clock.Now())
	}
	return changed, nil
}

// brake slows down the repairs of an object that another writer keeps changing, and records
// an event when that begins.
func (c *ActionClient) brake(key manifest.Key, writer string) {
	hold, held := c.memory.objects.Repaired(key, writer, c.Clock.Now())
	if held && hold.Repairs == drift.ContestedAfter {
		c.Recorder.Event(c.darkroom, true, EventContested, ContestMessage(hold))
	}
}

// ContestMessage describes a contest to the users of a Darkroom.
func ContestMessage(contest drift.Hold) string {
	writer := "another writer"
	if contest.Writer != "" {
		writer = fmt.Sprintf("field manager %q", contest.Writer)
	}
	return fmt.Sprintf("%s is changed repeatedly by %s and was restored %d times; restoring it is suspended until %s. "+
		"Configure that writer to ignore the object, or pause the Darkroom.",
		contest.Object, writer, contest.Repairs, contest.Until.UTC().Format("15:04:05 MST"))
}

// lastWriter returns the field manager that changed an object last; empty if that cannot be
// found out.
func (c *ActionClient) lastWriter(object *unstructured.Unstructured) string {
	existing := &metav1.PartialObjectMetadata{}
	existing.SetGroupVersionKind(object.GroupVersionKind())
	if err := c.Reader.Get(c.ctx, client.ObjectKeyFromObject(object), existing); err != nil {
		return ""
	}
	return drift.LastWriter(FieldManager, existing.ManagedFields)
}
