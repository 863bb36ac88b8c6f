package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

const (
	// showAttempts is the number of short waits until the caches show the objects of a Darkroom
	// that was taken over. The first is staleRetry, and each is twice the one before.
	showAttempts = 6
	// handoverPeriod is the time after a takeover at which the objects are looked for again: the
	// operator of the other shard may have written some of them meanwhile, in a reconcile that it
	// had begun before.
	handoverPeriod = 15 * time.Second
)

// takeover takes over the objects of Darkrooms that come from another shard: the caches of
// this operator do not have them, because they select by the labels that objects inherit from
// their Darkroom. Without inherited labels it does nothing.
type takeover struct {
	inherited ownership.Inherited
	// live reads past the caches.
	live client.Reader
	// cached and owned look for objects in the caches.
	cached release.LiveLookup
	owned  release.OwnedLookup
	client client.Writer
	kinds  *kinds
	// changed is called for a Darkroom whose objects were given labels.
	changed func(types.NamespacedName)
	clock   clock.PassiveClock

	mu sync.Mutex
	// states has the Darkrooms that this process has looked at.
	states map[types.NamespacedName]takeoverState
}

// takeoverState is what is known of the objects of a Darkroom. The zero value, with its UID, is
// that of a Darkroom that was there at the start.
type takeoverState struct {
	owner types.UID
	// done is set while the caches show the objects.
	done bool
	// doubtful is set if the caches may show only some.
	doubtful bool
	// doubted is set once the API server has reported an object that the caches did not show.
	doubted bool
	// waits is the number of reconciles that waited for the caches.
	waits int
	// again is when the objects are looked for again; zero for never.
	again time.Time
}

// complete gives the objects of a Darkroom the inherited labels, unless the caches show its
// release. It returns the time to wait before the Darkroom is reconciled, until the caches show
// the objects; 0 if they do. A Darkroom without the finalizer is new and has no objects.
func (t *takeover) complete(ctx context.Context, darkroom *v1alpha1.Darkroom, isNew bool) (time.Duration, error) {
	if len(t.inherited) == 0 {
		return 0, nil
	}
	if isNew {
		t.remember(darkroom, takeoverState{done: true})
	}
	done, err := t.isComplete(ctx, darkroom)
	if err != nil {
		return 0, err
	}
	state := t.state(darkroom)
	if done && (state.again.IsZero() || t.clock.Now().Before(state.again)) {
		return 0, nil
	}
	state.doubtful = !done
	t.remember(darkroom, state)
	changed, missing, err := t.label(ctx, darkroom)
	if err != nil {
		return 0, fmt.Errorf("take over Darkroom %s from another shard: %w", keyOf(darkroom), err)
	}
	if changed {
		t.changed(keyOf(darkroom))
	}
	next := takeoverState{done: true, doubted: state.doubted}
	if changed || !done {
		next.again = t.clock.Now().Add(handoverPeriod)
	}
	if missing == "" {
		t.remember(darkroom, next)
		return 0, nil
	}
	next.done, next.doubtful, next.waits = false, true, state.waits+1
	t.remember(darkroom, next)
	if next.waits > showAttempts {
		return 0, fmt.Errorf("%s of Darkroom %s was given the labels that this operator selects it by, and does not keep them: "+
			"does a webhook remove or change one of %q?", missing, keyOf(darkroom), []string(t.inherited))
	}
	return staleRetry << (next.waits - 1), nil
}

// isComplete reports whether the caches show the objects of a Darkroom.
func (t *takeover) isComplete(ctx context.Context, darkroom *v1alpha1.Darkroom) (bool, error) {
	if len(t.inherited) == 0 {
		return true, nil
	}
	state := t.state(darkroom)
	if state.done || state.doubtful {
		return state.done, nil
	}
	shown, err := t.showsRelease(ctx, darkroom)
	if shown {
		t.remember(darkroom, takeoverState{done: true})
	}
	return shown, err
}

// doubt makes the next reconcile of a Darkroom look for objects that the caches do not show, if
// the cause of an error is such an object: its labels were removed, or the operator of the other
// shard wrote it last. It reports whether that happened for the first time.
func (t *takeover) doubt(darkroom *v1alpha1.Darkroom, cause error) bool {
	if len(t.inherited) == 0 || !apierrors.IsAlreadyExists(cause) && !errors.Is(cause, storage.ErrUnknownRevision) {
		return false
	}
	before := t.state(darkroom)
	t.remember(darkroom, takeoverState{doubtful: true, doubted: true})
	return !before.doubted
}

// next returns when a Darkroom has to be reconciled to look for its objects again; zero for
// never.
func (t *takeover) next(darkroom *v1alpha1.Darkroom) time.Time { return t.state(darkroom).again }

// moves notes the Darkrooms that come from another shard, or go there. It drops no event.
func (t *takeover) moves() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			darkroom, ok := e.Object.(*v1alpha1.Darkroom)
			if ok && len(t.inherited) > 0 && !e.IsInInitialList && controllerutil.ContainsFinalizer(darkroom, finalizer) {
				t.remember(darkroom, takeoverState{doubtful: true})
			}
			return true
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			t.forget(client.ObjectKeyFromObject(e.Object))
			return true
		},
	}
}

// showsRelease reports whether the caches have a revision of a Darkroom.
func (t *takeover) showsRelease(ctx context.Context, darkroom *v1alpha1.Darkroom) (bool, error) {
	owned, err := t.owned(ctx, darkroom)
	if err != nil {
		return false, err
	}
	for _, objects := range owned {
		if slices.ContainsFunc(objects, func(object metav1.Object) bool {
			return storage.IsRevision(object) && ownership.OwnsRevision(darkroom, object)
		}) {
			return true, nil
		}
	}
	return false, nil
}

// label gives the objects of a Darkroom the inherited labels, the revisions of its release last,
// so that a takeover that was interrupted is repeated. It reports whether it changed any, and
// returns one that the caches do not show with the labels, or nothing if they show all.
func (t *takeover) label(ctx context.Context, darkroom *v1alpha1.Darkroom) (changed bool, missing string, err error) {
	objects, err := t.objects(ctx, darkroom)
	if err != nil {
		return false, "", err
	}
	count := 0
	for i := range objects {
		object := &objects[i]
		name := object.Kind + " " + object.Name
		if changes := t.inherited.Changes(darkroom, object); changes != nil {
			if err := t.patch(ctx, object, changes); err != nil {
				return count > 0, "", fmt.Errorf("label %s: %w", name, err)
			}
			count++
			missing = name
			continue
		}
		cached, err := t.cached(ctx, object.GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(object))
		if client.IgnoreNotFound(err) != nil {
			return count > 0, "", fmt.Errorf("look for %s: %w", name, err)
		}
		if err != nil || cached != nil && (cached.GetUID() != object.UID || t.inherited.Changes(darkroom, cached) != nil) {
			missing = name
		}
	}
	if count > 0 {
		ctrl.LoggerFrom(ctx).Info("Took over the objects of a Darkroom from another shard", "objects", count)
	}
	return count > 0, missing, nil
}

// objects lists the objects of a Darkroom from the API server: last the revisions of its
// release, and of these the newest first.
func (t *takeover) objects(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]metav1.PartialObjectMetadata, error) {
	var objects, revisions []metav1.PartialObjectMetadata
	for _, kind := range t.kinds.cached() {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.kind.GroupVersion().WithKind(kind.kind.Kind + "List"))
		err := t.live.List(ctx, list, client.InNamespace(darkroom.Namespace), client.MatchingLabels{v1alpha1.LabelDarkroom: darkroom.Name})
		if err != nil {
			return nil, fmt.Errorf("list %ss: %w", kind.kind.Kind, err)
		}
		for i := range list.Items {
			object := list.Items[i]
			object.SetGroupVersionKind(kind.kind)
			switch {
			case storage.IsRevision(&object):
				if ownership.OwnsRevision(darkroom, &object) {
					revisions = append(revisions, object)
				}
			case ownership.Owns(darkroom, &object):
				objects = append(objects, object)
			}
		}
	}
	slices.SortFunc(revisions, func(a, b metav1.PartialObjectMetadata) int { return storage.VersionOf(&b) - storage.VersionOf(&a) })
	return append(objects, revisions...), nil
}

// patch changes labels of an object, unless another object has its name by now.
func (t *takeover) patch(ctx context.Context, object *metav1.PartialObjectMetadata, changes map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": object.UID, "labels": changes}})
	if err != nil {
		return fmt.Errorf("encode labels: %w", err)
	}
	err = t.client.Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(release.FieldManager))
	if apierrors.IsConflict(err) {
		return nil
	}
	return client.IgnoreNotFound(err)
}

func (t *takeover) state(darkroom *v1alpha1.Darkroom) takeoverState {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.states[keyOf(darkroom)]; known.owner == darkroom.UID {
		return known
	}
	return takeoverState{owner: darkroom.UID}
}

func (t *takeover) remember(darkroom *v1alpha1.Darkroom, state takeoverState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state.owner = darkroom.UID
	t.states[keyOf(darkroom)] = state
}

// forget drops the state of a Darkroom that is gone, or that another shard handles.
func (t *takeover) forget(key types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.states, key)
}
