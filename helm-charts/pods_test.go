package charts

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

func TestPodsMeetTheRestrictedStandard(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for name, values := range cases(t) {
		t.Run(name, func(t *testing.T) {
			rendered := objectsOf(t, values)
			template := deploymentOf(t, values).Spec.Template
			pods := []corev1.Pod{{ObjectMeta: template.ObjectMeta, Spec: template.Spec}}
			for _, pod := range manifests.All[*corev1.Pod](rendered) {
				pods = append(pods, *pod)
			}
			if len(pods) != 2 {
				t.Fatalf("want the pods of Darkroom and of helm test, got %d", len(pods))
			}
			for _, pod := range pods {
				for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
					if !result.Allowed {
						t.Errorf("pod %q: %s: %s", pod.Name, result.ForbiddenReason, result.ForbiddenDetail)
					}
				}
				if !*pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
					t.Errorf("pod %q: the root file system is writable", pod.Name)
				}
				if *pod.Spec.AutomountServiceAccountToken {
					t.Errorf("pod %q: gets a token for the Kubernetes API", pod.Name)
				}
			}
		})
	}
}

func TestDisruptionBudgetOnlyWhereAPodMayGo(t *testing.T) {
	for name, test := range map[string]struct {
		values string
		want   bool
	}{
		"one pod, whose node could never be drained": {"", false},
		"several pods":         {`{replicaCount: 2}`, true},
		"an unknown number":    {`{replicaCount: null}`, false},
		"autoscaling from one": {`{replicaCount: 5, autoscaling: {enabled: true, minReplicas: 1}}`, false},
		"autoscaling from two": {`{autoscaling: {enabled: true, minReplicas: 2}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			budgets := manifests.All[*policyv1.PodDisruptionBudget](objectsOf(t, test.values))
			if got := len(budgets) == 1; got != test.want {
				t.Errorf("want a budget: %t, got %d", test.want, len(budgets))
			}
		})
	}
}
