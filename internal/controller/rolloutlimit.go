package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// indexRolling is the index of Deployments that replace their pods because of the operator.
const indexRolling = "rolling"

// indexRollouts adds the index to the caches.
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

// limitRollouts returns a function that reports whether as many Darkrooms other than one replace their pods
// because of the operator as may at once; nil if there is no limit. The caches decide. Each worker may start one more.
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
			// Users can set the labels of any Deployment. Only Deployments that a Darkroom owns count.
			key, darkroom := client.ObjectKeyFromObject(&list.Items[i]), &v1alpha1.Darkroom{}
			err := cached.Get(ctx, key, darkroom, client.UnsafeDisableDeepCopy)
			if err == nil && key != one && ownership.Owns(darkroom, &list.Items[i]) {
				count++
			}
		}
		return count >= limit, nil
	}
}

// postponedMessage tells the users of a Darkroom whose Deployment waits.
func postponedMessage(limit int) string {
	return fmt.Sprintf(
		"A change of the operator's version or settings replaces the pods. It waits until fewer than %d Darkrooms "+
			"replace theirs because of such a change (--max-concurrent-rollouts). To apply it now, edit the Darkroom, or "+
			"set its annotation %s to a new value.",
		limit, v1alpha1.AnnotationRequestedAt)
}

// inputsOf identifies what users determine of the desired release of a Darkroom in addition to its spec.
func inputsOf(darkroom *v1alpha1.Darkroom, credentialsVersion string) string {
	return manifest.Digest([]any{
		darkroom.Labels, darkroom.Annotations[v1alpha1.AnnotationRequestedAt], credentialsVersion,
	})
}
