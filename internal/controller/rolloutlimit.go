package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// indexRolling indexes the Deployments that are replacing their pods because of the operator.
const indexRolling = "rolling"

// indexRollouts adds the index to a cache.
func indexRollouts(ctx context.Context, deployments client.FieldIndexer) error {
	err := deployments.IndexField(ctx, &appsv1.Deployment{}, indexRolling, func(object client.Object) []string {
		if deployment, ok := object.(*appsv1.Deployment); ok && release.RollsForOperator(deployment) {
			return []string{indexRolling}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index rollouts: %w", err)
	}
	return nil
}

// limitRollouts returns a function that reports whether the limit of concurrent rollouts caused by the operator is
// reached, not counting the given Darkroom. The function is nil if there is no limit. Because it reads the caches, each
// worker may exceed the limit by one rollout.
func limitRollouts(limit int, cached client.Reader) func(context.Context, types.NamespacedName) (bool, error) {
	if limit == 0 {
		return nil
	}
	return func(ctx context.Context, one types.NamespacedName) (bool, error) {
		list := &appsv1.DeploymentList{}
		if err := cached.List(ctx, list, client.MatchingFields{indexRolling: indexRolling},
			client.UnsafeDisableDeepCopy); err != nil {
			return false, fmt.Errorf("list rollouts: %w", err)
		}
		count := 0
		for i := range list.Items {
			// Users can label any Deployment, so only Deployments owned by a Darkroom count.
			key, darkroom := client.ObjectKeyFromObject(&list.Items[i]), &v1alpha1.Darkroom{}
			err := cached.Get(ctx, key, darkroom, client.UnsafeDisableDeepCopy)
			if err == nil && key != one && ownership.Owns(darkroom, &list.Items[i]) {
				count++
			}
		}
		return count >= limit, nil
	}
}

// postponedMessage is the condition message for a Darkroom whose rollout is queued.
func postponedMessage(limit int) string {
	return fmt.Sprintf(
		"A change of the operator's version or settings replaces the pods. The rollout starts when fewer than %d Darkrooms "+
			"replace theirs because of such a change (--max-concurrent-rollouts). To apply it now, edit the Darkroom, or "+
			"set its annotation %s to a new value.",
		limit, v1alpha1.AnnotationRequestedAt)
}
