package release

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/rollout"
)

// A new version or setting of the operator can replace the pods of all Darkrooms. To limit concurrent rollouts, apply
// and repair skip a Darkroom's Deployment while too many other rollouts caused by the operator are in progress. All
// other objects are applied. A mark on each Deployment records who caused its rollout. Changes by users are never
// postponed.

// mark is the value of the annotation v1alpha1.AnnotationRollout on a Deployment. It changes with the rendered pod
// template. Without the annotation it is the zero value.
type mark struct {
	// Generation is the generation of the Darkroom, and Inputs identifies the other inputs that users control.
	Generation int64  `json:"generation"`
	Inputs     string `json:"inputs"`
	// Template is the digest of the rendered pod template.
	Template string `json:"template"`
	// Revision is the revision of the Deployment whose rollout the operator caused; 0 if a user caused it.
	Revision int64 `json:"revision,omitempty"`
}

func markOf(deployment metav1.Object) (out mark) {
	if json.Unmarshal([]byte(deployment.GetAnnotations()[v1alpha1.AnnotationRollout]), &out) != nil {
		return mark{}
	}
	return out
}

func revisionOf(deployment metav1.Object) int64 {
	revision, _ := strconv.ParseInt(deployment.GetAnnotations()[drift.AnnotationRevision], 10, 64)
	return revision
}

// RollsForOperator reports whether a Deployment is replacing its pods because of the operator. If a user has restarted
// the Deployment since, the revision differs and the rollout does not count.
func RollsForOperator(deployment *appsv1.Deployment) bool {
	began, now := markOf(deployment).Revision, revisionOf(deployment)
	return began != 0 && (now == began || now == began-1) && rollout.IsRolling(deployment)
}

// postpone decides whether the rollout of a desired Deployment has to wait, and records the decision in Postponed and
// mayRoll. It returns false for other objects. live is the cached object; nil if there is none.
func (c *ActionClient) postpone(object *unstructured.Unstructured, live metav1.Object) (bool, error) {
	deployment, found := live.(*appsv1.Deployment)
	if c.Full == nil || !found || !c.isOperatorsChange(object, deployment) || deployment.Status.Replicas == 0 {
		return false, nil
	}
	full, err := c.Full(c.ctx, c.key)
	if err != nil {
		return false, fmt.Errorf("apply %s: %w", manifest.KeyOf(object), err)
	}
	c.Postponed, c.mayRoll = full, !full
	return full, nil
}

// isOperatorsChange reports whether an object is the Deployment and its pod template differs from the live one although
// users have changed nothing since it was applied.
func (c *ActionClient) isOperatorsChange(object *unstructured.Unstructured, live metav1.Object) bool {
	if live == nil || manifest.KeyOf(object) != DeploymentOf(c.key) {
		return false
	}
	before := markOf(live)
	return before.Template != digestOfTemplate(object) && (before == mark{} || before.Inputs == c.Inputs) &&
		(before.Generation == c.darkroom.Generation ||
			v1alpha1.IsConditionTrueNow(c.darkroom, v1alpha1.ConditionDeployed))
}

// marked returns the desired Deployment with its mark; other objects are returned unchanged. live is the last known
// object; nil if there is none.
func (c *ActionClient) marked(object *unstructured.Unstructured, live metav1.Object) *unstructured.Unstructured {
	if manifest.KeyOf(object) != DeploymentOf(c.key) {
		return object
	}
	next := mark{Generation: c.darkroom.Generation, Inputs: c.Inputs, Template: digestOfTemplate(object)}
	switch {
	case live == nil:
	case markOf(live).Template == next.Template:
		next = markOf(live)
	case c.isOperatorsChange(object, live):
		next.Revision = revisionOf(live) + 1
	}
	value, _ := json.Marshal(next) // cannot fail
	out := object.DeepCopy()
	out.SetAnnotations(labels.Merge(out.GetAnnotations(), labels.Set{v1alpha1.AnnotationRollout: string(value)}))
	return out
}

// awaitShown waits until the caches show a Deployment whose rollout the operator has just started, so that the rollout
// counts for the next Darkroom.
func (c *ActionClient) awaitShown(object manifest.Key) {
	if object != DeploymentOf(c.key) || !c.mayRoll {
		return
	}
	// After the timeout, a few rollouts more than the limit may start.
	_ = wait.PollUntilContextTimeout(c.ctx, 5*time.Millisecond, time.Second, true, func(context.Context) (bool, error) {
		live, err := c.cached(object)
		return live == nil || c.Shown(c.key, object, live), err
	})
}

func digestOfTemplate(deployment *unstructured.Unstructured) string {
	template, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "template")
	return manifest.Digest(template)
}
