package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/rollout"
)

// rollouts bounds how many Darkrooms replace their pods at once because of the operator: a new version or
// another default changes all of them. What users change is never queued. One process renders a Darkroom
// differently only if users change something, so the operator's own change is one that this process finds when
// it reconciles a Darkroom for the first time.
//
// The rollouts are counted from the Deployments in the caches. What is kept in memory is dropped with the
// process, and found again by the next one.
type rollouts struct {
	// limit is the maximum number; 0 means none.
	limit int
	// rolling returns the Darkrooms that replace their pods, as the caches show.
	rolling func(context.Context) ([]types.NamespacedName, error)
	// shown reports whether the caches show the last apply of the Deployment of a Darkroom.
	shown func(context.Context, types.NamespacedName) bool
	// wake enqueues Darkrooms.
	wake func(...types.NamespacedName)

	mu sync.Mutex
	// queue are the Darkrooms that wait, the first at its front, and editions what their users determined then.
	queue    []types.NamespacedName
	editions map[types.NamespacedName]string
	// admitted are the Darkrooms that were given a place, until the caches show what became of it; true once their
	// reconcile has ended.
	admitted map[types.NamespacedName]bool
}

// indexRolling is the index of Deployments that replace their pods.
const indexRolling = "rolling"

func newRollouts(mgr manager.Manager, limit int, darkrooms cache.Cache, releases *release.Releases) *rollouts {
	return &rollouts{
		limit: limit,
		rolling: func(ctx context.Context) ([]types.NamespacedName, error) {
			return rolling(ctx, mgr.GetCache(), darkrooms)
		},
		shown: func(ctx context.Context, key types.NamespacedName) bool {
			live := &appsv1.Deployment{}
			err := mgr.GetCache().Get(ctx, key, live, client.UnsafeDisableDeepCopy)
			return err != nil || releases.Shown(key, release.DeploymentOf(key), live)
		},
	}
}

// indexRollouts adds the index of Deployments that replace their pods.
func indexRollouts(ctx context.Context, deployments client.FieldIndexer) error {
	err := deployments.IndexField(ctx, &appsv1.Deployment{}, indexRolling, func(object client.Object) []string {
		if deployment, ok := object.(*appsv1.Deployment); ok && rollout.IsRolling(deployment) {
			return []string{indexRolling}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index rollouts: %w", err)
	}
	return nil
}

// rolling lists the Darkrooms whose Deployments replace their pods. Deployments that users label and own as
// they like do not count.
func rolling(ctx context.Context, deployments, darkrooms client.Reader) ([]types.NamespacedName, error) {
	list := &appsv1.DeploymentList{}
	if err := deployments.List(ctx, list, client.MatchingFields{indexRolling: indexRolling},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list rollouts: %w", err)
	}
	var keys []types.NamespacedName
	for i := range list.Items {
		darkroom := &v1alpha1.Darkroom{}
		err := darkrooms.Get(ctx, client.ObjectKeyFromObject(&list.Items[i]), darkroom, client.UnsafeDisableDeepCopy)
		if err == nil && ownership.Owns(darkroom, &list.Items[i]) {
			keys = append(keys, client.ObjectKeyFromObject(darkroom))
		}
	}
	return keys, nil
}

// watch wakes Darkrooms that wait when a rollout ends.
func (r *rollouts) watch(controller *ctrl.Builder) {
	if r.limit == 0 {
		return
	}
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	controller.WatchesRawSource(wakeBy(0, func(wake func(...types.NamespacedName)) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wake = wake
	}))
	controller.Watches(&appsv1.Deployment{}, handler.Funcs{
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, _ queue) {
			if deployment, ok := e.ObjectNew.(*appsv1.Deployment); ok && !rollout.IsRolling(deployment) {
				r.advance(ctx)
			}
		},
		DeleteFunc: func(ctx context.Context, _ event.DeleteEvent, _ queue) { r.advance(ctx) },
	})
}

// holds reports whether a change of a Darkroom by the operator has to wait for a place. The edition is what its users
// determine, and rolls reports whether the change replaces its pods.
func (r *rollouts) holds(
	ctx context.Context, key types.NamespacedName, edition string, rolls func() (bool, error),
) (bool, error) {
	admitted, waits, err := r.admit(ctx, key, edition)
	if err != nil || admitted || waits {
		return !admitted && err == nil, err
	}
	// An error is reported when it is met again, in the place that the Darkroom waits for.
	if rolls, err := rolls(); err == nil && !rolls || ctx.Err() != nil {
		return false, ctx.Err()
	}
	r.enqueue(ctx, key, edition)
	return true, nil
}

// admit gives a Darkroom a place if one is free, or if users changed it since it began to wait. Otherwise it
// reports whether the Darkroom waits already.
func (r *rollouts) admit(
	ctx context.Context, key types.NamespacedName, edition string,
) (admitted, waits bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, waits := r.editions[key]
	if waits && before != edition {
		return true, true, nil
	}
	taken, err := r.taken(ctx)
	if err != nil {
		return false, waits, err
	}
	delete(taken, key)
	if len(taken) >= r.limit {
		return false, waits, nil
	}
	if r.admitted == nil {
		r.admitted = map[types.NamespacedName]bool{}
	}
	r.admitted[key] = false
	return true, waits, nil
}

// enqueue lets a Darkroom wait for a place.
func (r *rollouts) enqueue(ctx context.Context, key types.NamespacedName, edition string) {
	r.mu.Lock()
	if r.editions == nil {
		r.editions = map[types.NamespacedName]string{}
	}
	r.editions[key] = edition
	r.queue = append(r.queue, key)
	r.mu.Unlock()
	r.advance(ctx) // a rollout may have ended in the meantime
}

// settle ends the reconcile of a Darkroom that does or does not wait after it.
func (r *rollouts) settle(ctx context.Context, key types.NamespacedName, waits bool) {
	if waits || r.limit == 0 {
		return
	}
	r.mu.Lock()
	_, waited := r.editions[key]
	if waited {
		delete(r.editions, key)
		r.queue = slices.DeleteFunc(r.queue, func(queued types.NamespacedName) bool { return queued == key })
	}
	_, admitted := r.admitted[key]
	if admitted {
		r.admitted[key] = true
	}
	r.mu.Unlock()
	if waited || admitted {
		r.advance(ctx)
	}
}

// advance wakes as many Darkrooms that wait as there are free places.
func (r *rollouts) advance(ctx context.Context) {
	r.mu.Lock()
	var next []types.NamespacedName
	if len(r.queue) > 0 {
		taken, err := r.taken(ctx)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to count rollouts")
		} else {
			next = slices.Clone(r.queue[:min(len(r.queue), max(r.limit-len(taken), 0))])
		}
	}
	wake := r.wake
	r.mu.Unlock()
	if len(next) > 0 && wake != nil {
		wake(next...)
	}
}

// taken returns the Darkrooms that have a place: those that replace their pods, and those that may be about to.
func (r *rollouts) taken(ctx context.Context) (map[types.NamespacedName]bool, error) {
	maps.DeleteFunc(r.admitted, func(key types.NamespacedName, ended bool) bool { return ended && r.shown(ctx, key) })
	rolling, err := r.rolling(ctx)
	if err != nil {
		return nil, err
	}
	taken := make(map[types.NamespacedName]bool, len(rolling)+len(r.admitted))
	for _, key := range rolling {
		taken[key] = true
	}
	for key := range r.admitted {
		taken[key] = true
	}
	return taken, nil
}

// message tells the users of a Darkroom that waits.
func (r *rollouts) message() string {
	return fmt.Sprintf(
		"A change of the operator's version or settings replaces the pods. It waits until fewer than %d Darkrooms "+
			"replace theirs (--max-concurrent-rollouts). To apply it now, edit the Darkroom, or set its "+
			"annotation %s to a new value.",
		r.limit, v1alpha1.AnnotationRequestedAt)
}

// editionOf identifies what users determine of the desired release of a Darkroom.
func editionOf(darkroom *v1alpha1.Darkroom, credentialsVersion string) string {
	return manifest.Digest([]any{
		darkroom.UID, darkroom.Generation, darkroom.Labels,
		darkroom.Annotations, credentialsVersion,
	})
}

// queues reports whether the rendered release of a Darkroom has to wait for the rollouts of others.
func (r *helmReconciler) queues(
	ctx context.Context, darkroom *v1alpha1.Darkroom, rendered *release.ActionClient, credentialsVersion string,
) (bool, error) {
	key := client.ObjectKeyFromObject(darkroom)
	if r.rollouts.limit == 0 || !isDeployed(darkroom) || r.releases.Applied(key, release.DeploymentOf(key)) {
		return false, nil
	}
	live := &appsv1.Deployment{}
	err := r.client.Get(ctx, key, live)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("look for %s: %w", release.DeploymentOf(key), err)
	case err != nil, !ownership.Owns(darkroom, live), live.Status.Replicas == 0:
		return false, nil // no pods are replaced
	}
	return r.rollouts.holds(ctx, key, editionOf(darkroom, credentialsVersion), rendered.Rolls)
}

// isDeployed reports whether the spec of a Darkroom is deployed: what differs then was not changed by its users.
func isDeployed(darkroom *v1alpha1.Darkroom) bool {
	deployed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionDeployed)
	return deployed != nil && deployed.Status == metav1.ConditionTrue && deployed.ObservedGeneration == darkroom.Generation
}
