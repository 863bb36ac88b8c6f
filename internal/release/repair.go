package release

import (
	"errors"
	"fmt"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// Reconcile restores objects that drifted from the deployed release, and prunes. The desired objects were
// rendered in this reconcile; the stored manifest, whose summary Reconcile receives, is never applied. It sends no
// request if nothing differs.
func (c *ActionClient) Reconcile(*helmrelease.Release) (err error) {
	defer func() {
		if err != nil && !isWaiting(err) {
			c.Metrics.RepairFailed()
		}
	}()
	if c.rendering == nil {
		return fmt.Errorf("release %s: %w", c.key, errNotRendered)
	}
	if inSync, err := c.inSync(); err != nil {
		return err
	} else if inSync {
		return c.prune()
	}
	next, err := c.withObjects()
	if err != nil {
		return err
	}
	var repaired []string
	var errs []error
	for _, object := range next.objects {
		changed, err := c.repair(object)
		if err != nil {
			// A failed repair of one object does not stop the repair of the others.
			errs = append(errs, fmt.Errorf("repair release %s: %w", c.key, err))
		}
		if changed {
			repaired = append(repaired, manifest.KeyOf(object).String())
		}
	}
	if len(errs) == 0 {
		errs = append(errs, c.prune())
	}
	if len(repaired) > 0 {
		c.Metrics.Repaired()
		c.Recorder.Event(c.darkroom, false, EventRepaired,
			"Restored after a change by another client: "+strings.Join(repaired, ", "))
	}
	return errors.Join(errs...)
}

// inSync reports whether no desired object has to be repaired now.
func (c *ActionClient) inSync() (bool, error) {
	for _, desired := range c.memory.objects.Desired() {
		live, err := c.cached(desired.Key)
		if err != nil {
			return false, err
		}
		isDesired := live != nil && c.memory.objects.Unchanged(desired, live)
		if !isDesired && !c.memory.objects.Held(desired.Key, c.Clock.Now()) {
			return false, nil
		}
	}
	return true, nil
}

// repair applies an object unless it is in its desired state or its repair is delayed. It reports whether the object
// was missing or different.
func (c *ActionClient) repair(object *unstructured.Unstructured) (bool, error) {
	key, desired, writer := manifest.KeyOf(object), drift.DesiredOf(object), ""
	live, err := c.lookUp(object)
	if err != nil || live != nil && c.memory.objects.Unchanged(desired, live) {
		return false, err
	}
	if postponed, err := c.postpone(object, live); postponed || err != nil {
		return false, err
	}
	_, traced := c.memory.objects.Trace(key)
	if traced {
		// The cache may not show the operator's last write yet.
		if live, writer, err = c.readWritten(object); err != nil {
			return false, err
		}
		if live != nil && c.memory.objects.Unchanged(desired, live) {
			return false, nil
		}
	}
	if c.memory.objects.Held(key, c.Clock.Now()) {
		return false, nil
	}
	return c.restore(object, live, writer, traced)
}

// restore writes an object that drifted, and reports whether this counts as a repair. It does not count if the object
// is a Deployment without a trace, because its rollout may have been postponed.
func (c *ActionClient) restore(
	object *unstructured.Unstructured, live metav1.Object, writer string, traced bool,
) (bool, error) {
	key, hasWaited := manifest.KeyOf(object), !traced && c.isOperatorsChange(object, live)
	now, err := c.put(object, live)
	if err != nil || hasWaited {
		return false, err
	}
	if live != nil && !drift.Differ(live, now) {
		// Other clients may have added allowed fields. Such an object looks like drift, but the apply changes nothing.
		c.memory.objects.Confirmed(key, c.Clock.Now())
		return false, nil
	}
	c.brake(key, writer)
	return true, nil
}

// readWritten reads an object of the Darkroom from the API server, and its last writer other than the operator. live is
// nil if the object does not exist or belongs to others.
func (c *ActionClient) readWritten(object *unstructured.Unstructured) (live metav1.Object, writer string, err error) {
	existing, err := c.readMetadata(object.GroupVersionKind(), object.GetName())
	if err != nil || existing == nil {
		return nil, "", err
	}
	if ownership.Owns(c.darkroom, existing) {
		live = existing
	}
	return live, drift.LastWriter(FieldManager, existing.ManagedFields), nil
}

// brake delays further repairs of an object that another writer keeps changing, and records an event when a contest
// starts.
func (c *ActionClient) brake(key manifest.Key, writer string) {
	hold, held := c.memory.objects.Repaired(key, writer, c.Clock.Now())
	if held && hold.Repairs == drift.ContestedAfter {
		c.Recorder.Event(c.darkroom, true, EventContested, ContestMessage(hold))
	}
}

// ContestMessage describes a contest in a message for the users of a Darkroom.
func ContestMessage(contest drift.Hold) string {
	writer := "another writer"
	if contest.Writer != "" {
		writer = fmt.Sprintf("field manager %q", contest.Writer)
	}
	return fmt.Sprintf("%s is changed repeatedly by %s and was restored %d times; restoring it is suspended until %s. "+
		"Configure that writer to ignore the object, or pause the Darkroom.",
		contest.Object, writer, contest.Repairs, contest.Until.UTC().Format("15:04:05 MST"))
}
