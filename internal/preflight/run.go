package preflight

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
)

const (
	// pollPeriod is the interval at which the Deployment is read from the cache.
	pollPeriod = 250 * time.Millisecond
	// diagnosePeriod is the interval at which pods that are not ready are listed.
	diagnosePeriod = 5 * time.Second
	// settleTime is the time in which the cache must show the Deployment, and in which
	// causes that prevent its pod from being created or started may pass.
	settleTime = 10 * time.Second
	// probePause is the time between two requests for the image.
	probePause = 2 * time.Second
	// removeTimeout bounds the deletion of the Deployment.
	removeTimeout = 10 * time.Second
)

// run checks a change and removes the objects that it created, unless the operator stops:
// the next operator continues the check.
func (c *Checks) run(ctx context.Context, change Change) probe.Outcome {
	started, err := change.Start(ctx)
	if err != nil {
		return failed(v1alpha1.ReasonPreflightFailed, err.Error())
	}
	defer func() {
		if c.lifetime.Err() != nil {
			return
		}
		removal, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
		defer cancel()
		if err := change.Remove(removal); err != nil {
			// It is surplus then, and removed by a later reconcile.
			ctrl.LoggerFrom(ctx).Error(err, "Preflight Deployment not deleted", "namespace", started.Namespace, "deployment", started.Name)
		}
	}()
	pod, problem := c.ready(ctx, started)
	if pod == nil {
		return problem
	}
	var outcome probe.Outcome
	for attempt := range change.Target.FailureThreshold {
		if attempt > 0 && !c.sleep(ctx, probePause) {
			break
		}
		if outcome = c.options.Probe(ctx, pod, change.Target); outcome.Served() {
			break
		}
	}
	return outcome
}

// ready waits until the pod is ready and returns it, or nil and why it is not.
func (c *Checks) ready(ctx context.Context, started Identity) (*corev1.Pod, probe.Outcome) {
	began := c.options.Clock.Now()
	diagnosed := began
	for {
		age := c.options.Clock.Since(began)
		deployment, err := c.options.Deployment(ctx, started.NamespacedName)
		missing := apierrors.IsNotFound(err) || err == nil && deployment.UID != started.UID
		switch {
		case missing && age < settleTime: // the cache does not show it yet
		case missing:
			return nil, failed(v1alpha1.ReasonPreflightFailed, fmt.Sprintf("Deployment %s of the preflight pod was deleted.", started.Name))
		case err != nil:
			return nil, failedBy(fmt.Errorf("look for Deployment %s of the preflight pod: %w", started.Name, err))
		case deployment.Status.ObservedGeneration >= deployment.Generation && deployment.Status.ReadyReplicas > 0:
			if pod, err := c.readyPod(ctx, deployment); err != nil || pod != nil {
				return pod, failedBy(err)
			}
		case age > settleTime && refusal(deployment) != "":
			return nil, failed(v1alpha1.ReasonPodsRefused, refusal(deployment))
		case c.options.Clock.Since(diagnosed) >= diagnosePeriod:
			diagnosed = c.options.Clock.Now()
			problem, err := c.diagnose(ctx, deployment)
			if err != nil {
				return nil, failedBy(err)
			}
			if problem != nil && (age >= StartTimeout || age > settleTime && problem.Reason == v1alpha1.ReasonPodsFailing) {
				return nil, failed(problem.Reason, problem.Message)
			}
			if age >= StartTimeout {
				return nil, failed(v1alpha1.ReasonPreflightFailed, fmt.Sprintf("the preflight pod was not ready within %s", StartTimeout))
			}
		}
		if !c.sleep(ctx, pollPeriod) {
			return nil, probe.Outcome{} // nothing waits for it
		}
	}
}

// readyPod returns a ready pod of a Deployment; nil if there is none.
func (c *Checks) readyPod(ctx context.Context, deployment *appsv1.Deployment) (*corev1.Pod, error) {
	pods, err := c.pods(ctx, deployment)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(pods, func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp == nil && pod.Status.PodIP != "" &&
			slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
				return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
			})
	})
	if at < 0 {
		return nil, nil //nolint:nilnil // no pod is ready
	}
	return &pods[at], nil
}

// diagnose returns what keeps the pod from being ready; nil if nothing is known to.
func (c *Checks) diagnose(ctx context.Context, deployment *appsv1.Deployment) (*status.Problem, error) {
	pods, err := c.pods(ctx, deployment)
	if err != nil {
		return nil, err
	}
	return status.DetermineProblem(pods), nil
}

func (c *Checks) pods(ctx context.Context, deployment *appsv1.Deployment) ([]corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return nil, err
	}
	pods := &corev1.PodList{}
	err = c.options.Pods.List(ctx, pods, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector})
	if err != nil {
		return nil, fmt.Errorf("list the pods of Deployment %s: %w", deployment.Name, err)
	}
	return pods.Items, nil
}

// refusal returns why the API server refuses to create the pod; empty if it does not.
func refusal(deployment *appsv1.Deployment) string {
	condition := status.DeploymentCondition(deployment, appsv1.DeploymentReplicaFailure)
	if condition == nil || condition.Status != corev1.ConditionTrue {
		return ""
	}
	return condition.Message
}

// sleep waits, and reports whether the context has not ended.
func (c *Checks) sleep(ctx context.Context, pause time.Duration) bool {
	timer := c.options.Clock.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}

func failed(reason, message string) probe.Outcome {
	return probe.Outcome{Reason: reason, Message: message}
}

// failedBy returns the outcome of a check that an error ended.
func failedBy(err error) probe.Outcome {
	if err == nil {
		return probe.Outcome{}
	}
	return failed(v1alpha1.ReasonPreflightFailed, err.Error())
}
