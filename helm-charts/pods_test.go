package charts

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

func TestPodsMeetTheRestrictedStandardAndHaveNoToken(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	expect.NoError(t, err)
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
				for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
					if !ptr.Deref(container.SecurityContext.ReadOnlyRootFilesystem, false) {
						t.Errorf("pod %q: the root file system of %s is writable", pod.Name, container.Name)
					}
				}
				if ptr.Deref(pod.Spec.AutomountServiceAccountToken, true) {
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

// A restart does not fix a source that fails, so the startup probe never gives up.
func TestNewPodsServeTheImageBeforeTheyReceiveRequests(t *testing.T) {
	const values = `{probe: {path: /photos/cat.jpg, timeoutSeconds: 7}, startupProbe: null}`
	startup := containerOf(t, values).StartupProbe
	if startup == nil || startup.HTTPGet == nil {
		t.Fatalf("startup probe %v", startup)
	}
	if startup.HTTPGet.Path != "/photos/cat.jpg?w=16" || startup.HTTPGet.Port.StrVal != "http" {
		t.Errorf("requests %+v", startup.HTTPGet)
	}
	if startup.TimeoutSeconds != 7 || startup.PeriodSeconds != 2 || startup.FailureThreshold != math.MaxInt32 {
		t.Errorf("timing %+v", startup)
	}
	before, after := containerOf(t, ""), containerOf(t, values)
	for name, probes := range map[string][2]*corev1.Probe{
		"readiness": {before.ReadinessProbe, after.ReadinessProbe}, "liveness": {before.LivenessProbe, after.LivenessProbe},
	} {
		expect.Equal(t, name+" probe of pods that serve, with a probe of an image", probes[0], probes[1])
	}
}

func TestTheKubeletAndTheOperatorRequestTheSameImage(t *testing.T) {
	for _, path := range []string{
		"/cat.jpg", "/photos/black cat.jpg", "/100%.jpg", "/a%20b.jpg", "/猫/é.png",
		"/a+b&c=d;e,f.jpg", "/a:b@c!$'()*~.jpg",
		`/"quoted"<>|\^{}[]` + "`.jpg", "/photos/", "/..photos/.cat",
	} {
		t.Run(path, func(t *testing.T) {
			var requested string
			darkroom := httptest.NewServer(
				http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requested = r.RequestURI }),
			)
			defer darkroom.Close()
			probe.NewClient().Probe(t.Context(), darkroom.URL, probe.Target{Path: path, Timeout: time.Minute})

			values, err := json.Marshal(map[string]any{"probe": map[string]any{"path": path}})
			expect.NoError(t, err)
			// The kubelet parses the path like this, so that it may have a query.
			kubelet, err := url.Parse(containerOf(t, string(values)).StartupProbe.HTTPGet.Path)
			expect.NoError(t, err)
			if got := kubelet.RequestURI(); got != requested || got == "" {
				t.Errorf("the kubelet requests %q, the operator %q", got, requested)
			}
		})
	}
}
