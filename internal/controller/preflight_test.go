package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

const refusal = "GET /cat.jpg?w=16: HTTP 403. Check the keys."

// withPreflight has an operator ask a source for images through pods, too.
func withPreflight(s *source, limit int) operatorOption {
	return func(o *controller.Options, c *rest.Config) {
		withSource(s)(o, c)
		o.MaxPreflights = limit
		o.ProbePod = func(ctx context.Context, _ *corev1.Pod, target probe.Target) probe.Outcome {
			return s.probe(ctx, client.ObjectKey{}, target)
		}
	}
}

func refusing() *source {
	s := &source{}
	s.becomes(v1alpha1.ReasonSourceDenied, refusal)
	return s
}

func (s *source) serves() { s.becomes(v1alpha1.ReasonImageServed, "It is served.") }

// probed is a Darkroom with a probe and a failure threshold of one.
func probed(namespace, name string) *v1alpha1.Darkroom {
	darkroom := webFolder(namespace, name)
	darkroom.Spec.Probe = &v1alpha1.Probe{Path: "/cat.jpg", PeriodSeconds: ptr.To[int32](10), FailureThreshold: ptr.To[int32](1)}
	return darkroom
}

func preflights(ctx context.Context, namespace string) ([]appsv1.Deployment, error) {
	list := &appsv1.DeploymentList{}
	err := kube.List(ctx, list, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelPreflight})
	return list.Items, err
}

// kubelet starts the pods of preflight Deployments of a namespace until the test ends, and
// returns how many of them it saw at most at one time.
func kubelet(t *testing.T, namespace string) (most func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	t.Cleanup(func() { cancel(); ended.Wait() })
	var mu sync.Mutex
	seen := 0
	ended.Go(func() {
		for ctx.Err() == nil {
			found, _ := preflights(ctx, namespace)
			mu.Lock()
			seen = max(seen, len(found))
			mu.Unlock()
			for i := range found {
				if found[i].Status.ReadyReplicas == 0 {
					if err := startPod(ctx, &found[i]); client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
						t.Error(err)
					}
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// startPod makes the pod of a Deployment, and lets it be ready.
func startPod(ctx context.Context, deployment *appsv1.Deployment) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: deployment.Name, Labels: deployment.Spec.Template.Labels},
		Spec:       deployment.Spec.Template.Spec,
	}
	if err := kube.Create(ctx, pod); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	pod.Status = corev1.PodStatus{
		PodIP: "10.0.0.7", PodIPs: []corev1.PodIP{{IP: "10.0.0.7"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	if pod.ResourceVersion != "" {
		if err := kube.Status().Update(ctx, pod); err != nil {
			return err
		}
	}
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
	}
	return kube.Status().Update(ctx, deployment)
}

// serving starts an operator that has installed a Darkroom whose pods serve.
func serving(t *testing.T, darkroom *v1alpha1.Darkroom, images *source) *operator {
	t.Helper()
	images.serves()
	operator := startOperator(t, darkroom.Namespace, withPreflight(images, 2))
	create(t, darkroom)
	eventually(t, "the release", installed(darkroom.Namespace, darkroom.Name))
	becomeReady(t, darkroom.Namespace, darkroom.Name)
	eventuallyReady(t, darkroom)
	return operator
}

func eventuallyReady(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	eventuallyStatus(t, darkroom, "Ready", func(status v1alpha1.DarkroomStatus) error {
		return condition(status, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
	})
}

func eventuallyHeld(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	eventuallyStatus(t, darkroom, "held back", func(status v1alpha1.DarkroomStatus) error {
		return errors.Join(
			condition(status, v1alpha1.ConditionPreflight, metav1.ConditionFalse, v1alpha1.ReasonSourceDenied),
			condition(status, v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonSourceDenied),
			condition(status, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSourceDenied),
			condition(status, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSourceDenied))
	})
}

// nothingLeft returns an error if a preflight check has left objects in a namespace. The names are those of
// the ConfigMaps that may be there.
func nothingLeft(namespace string, configMaps ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		found, err := preflights(ctx, namespace)
		if err != nil || len(found) > 0 {
			return errors.Join(err, fmt.Errorf("%d preflight Deployments", len(found)))
		}
		list := &corev1.ConfigMapList{}
		if err := kube.List(ctx, list, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelDarkroom}); err != nil {
			return err
		}
		for _, configMap := range list.Items {
			if !slices.Contains(configMaps, configMap.Name) {
				return fmt.Errorf("ConfigMap %s is still there", configMap.Name)
			}
		}
		return nil
	}
}

func TestAChangeThatWouldBreakImagesIsNotApplied(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	images := &source{}
	darkroom := probed(namespace, "photos")
	operator := serving(t, darkroom, images)
	kubelet(t, namespace)
	before, config := podTemplateOf(t, namespace, "photos"), mustConfig(t, namespace, "photos").Name

	images.becomes(v1alpha1.ReasonSourceDenied, refusal)
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "https://wrong.example.com/images" })
	eventuallyHeld(t, darkroom)
	eventually(t, "the end of the preflight pod", nothingLeft(namespace, config))
	eventually(t, "rest", quiet(operator))
	if podTemplateOf(t, namespace, "photos") != before {
		t.Error("the change reached the pods that serve")
	}
	now := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status
	if now.Phase != v1alpha1.PhaseDegraded || !strings.Contains(now.Message, "is not applied") || !strings.Contains(now.Message, refusal) {
		t.Errorf("phase %s, message %q", now.Phase, now.Message)
	}
	eventuallyEvent(t, namespace, "HeldBack")

	// The deployed revision is maintained meanwhile.
	deleted := mustGet(t, &corev1.Service{}, namespace, "photos")
	if err := kube.Delete(t.Context(), deleted); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Service again", func(ctx context.Context) error {
		_, err := get(ctx, &corev1.Service{}, namespace, "photos")
		return err
	})

	images.serves()
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "https://right.example.com/images" })
	eventuallyRolled(t, namespace, "photos", before)
	becomeReady(t, namespace, "photos")
	eventuallyReady(t, darkroom)
	eventually(t, "the end of the preflight pod", nothingLeft(namespace, mustConfig(t, namespace, "photos").Name))
	if held := v1alpha1.FindCondition(mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status.Conditions, v1alpha1.ConditionPreflight); held != nil {
		t.Errorf("the condition Preflight is left: %+v", held)
	}
}

func TestAWrongSecretReachesNoPodThatServes(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, newSecret(namespace, "keys"))
	images := &source{}
	darkroom := withSecret(probed(namespace, "photos"), "keys")
	serving(t, darkroom, images)
	kubelet(t, namespace)
	before := podTemplateOf(t, namespace, "photos")

	images.becomes(v1alpha1.ReasonSourceDenied, refusal)
	secret := mustGet(t, &corev1.Secret{}, namespace, "keys")
	change(t, secret, func(s *corev1.Secret) { s.Data["secretKey"] = []byte("a-canary") })
	eventuallyHeld(t, darkroom)
	if podTemplateOf(t, namespace, "photos") != before {
		t.Error("the change reached the pods that serve")
	}

	// Correcting the Secret is noticed at once, before the check would be repeated.
	images.serves()
	change(t, secret, func(s *corev1.Secret) { s.Data["secretKey"] = []byte("right") })
	eventuallyRolled(t, namespace, "photos", before)
	becomeReady(t, namespace, "photos")
	eventuallyReady(t, darkroom)
	eventually(t, "the end of the preflight pod", nothingLeft(namespace, mustConfig(t, namespace, "photos").Name))
}

func TestHarmlessChangesAreAppliedWithoutAPreflightCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ready  bool
		change func(*v1alpha1.Darkroom)
	}{
		"hosts":                       {true, func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{"pictures"} }},
		"replicas":                    {true, func(d *v1alpha1.Darkroom) { d.Spec.Replicas = ptr.To[int32](3) }},
		"a source without ready pods": {false, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "https://other.example.com" }},
		"a source without a probe": {true, func(d *v1alpha1.Darkroom) {
			d.Spec.Probe, d.Spec.Source.BaseURL = nil, "https://other.example.com"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			darkroom := probed(namespace, "photos")
			startOperator(t, namespace, withPreflight(refusing(), 1))
			create(t, darkroom)
			eventually(t, "the release", installed(namespace, "photos"))
			if test.ready {
				becomeReady(t, namespace, "photos")
			}
			change(t, darkroom, test.change)
			eventually(t, "the upgrade", func(ctx context.Context) error {
				now, err := get(ctx, &v1alpha1.Darkroom{}, namespace, "photos")
				if err != nil || len(now.Status.Conditions) == 0 {
					return errors.Join(err, errors.New("no status"))
				}
				if _, err := get(ctx, &corev1.Secret{}, namespace, "sh.helm.release.v1.photos.v2"); err != nil {
					return err
				}
				return installed(namespace, "photos")(ctx)
			})
			if found, err := preflights(t.Context(), namespace); err != nil || len(found) > 0 {
				t.Errorf("%d preflight Deployments (%v)", len(found), err)
			}
		})
	}
}

func TestAnOperatorKilledDuringAPreflightCheckLeavesNothing(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	images := &source{}
	darkroom := probed(namespace, "photos")
	doomed := serving(t, darkroom, images)
	before, config := podTemplateOf(t, namespace, "photos"), mustConfig(t, namespace, "photos").Name
	underWay := func(ctx context.Context) error {
		found, err := preflights(ctx, namespace)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%d preflight Deployments", len(found))
		}
		return err
	}
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "https://other.example.com/images" })
	eventually(t, "a preflight check", underWay)
	doomed.kill()
	if err := underWay(t.Context()); err != nil {
		t.Error(err)
	}

	t.Run("the next one goes on with it", func(t *testing.T) {
		next := startOperator(t, namespace, withPreflight(refusing(), 1))
		kubelet(t, namespace)
		eventuallyHeld(t, darkroom)
		eventually(t, "the end of the preflight pod", nothingLeft(namespace, config))
		next.kill()
		if podTemplateOf(t, namespace, "photos") != before {
			t.Error("the change was applied")
		}
	})
	t.Run("and one that finds the change taken back removes it", func(t *testing.T) {
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "debug" })
		doomed := startOperator(t, namespace, withPreflight(refusing(), 1))
		eventually(t, "a preflight check", underWay)
		doomed.kill()
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL, d.Spec.LogLevel = "https://example.com/images", "" })
		images.serves()
		startOperator(t, namespace, withPreflight(images, 1))
		eventuallyReady(t, darkroom)
		eventually(t, "the end of the preflight pod", nothingLeft(namespace, config))
	})
}

// intruder creates a foreign Deployment once the operator creates one for a preflight check:
// before that request, so that the name is taken, or after it, in its place.
type intruder struct {
	t      *testing.T
	before bool
	once   sync.Once
	made   *appsv1.Deployment
}

func (i *intruder) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		namespace, name := "", ""
		if parts := strings.Split(request.URL.Path, "/"); request.Method == http.MethodPatch && strings.Contains(request.URL.Path, "-preflight-") {
			namespace, name = parts[len(parts)-3], parts[len(parts)-1]
		}
		if name == "" {
			return next.RoundTrip(request)
		}
		if i.before {
			i.once.Do(func() { i.make(namespace, name) })
			return next.RoundTrip(request)
		}
		response, err := next.RoundTrip(request)
		i.once.Do(func() {
			own := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			if err := kube.Delete(i.t.Context(), own); err != nil {
				i.t.Error(err)
			}
			i.make(namespace, name)
		})
		return response, err
	})
}

func (i *intruder) make(namespace, name string) {
	pod := map[string]string{"app": "gallery"}
	i.made = &appsv1.Deployment{
		// With the labels of the operator, as a copy of its object has them.
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{
			v1alpha1.LabelDarkroom: "photos", v1alpha1.LabelPreflight: "gallery",
		}},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: pod},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: pod},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "gallery", Image: "gallery:1"}}},
			},
		},
	}
	if err := kube.Create(i.t.Context(), i.made); err != nil {
		i.t.Error(err)
	}
}

func TestAForeignDeploymentWithTheNameOfAPreflightCheckIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"it was there before": true, "it took the place of the operator's": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			images := &source{}
			images.serves()
			other := &intruder{t: t, before: before}
			startOperator(t, namespace, withPreflight(images, 1), withTransport(other.wrap))
			darkroom := probed(namespace, "photos")
			create(t, darkroom)
			eventually(t, "the release", installed(namespace, "photos"))
			becomeReady(t, namespace, "photos")
			eventuallyReady(t, darkroom)
			applied := podTemplateOf(t, namespace, "photos")

			change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "debug" })
			eventuallyStatus(t, darkroom, "held back", func(status v1alpha1.DarkroomStatus) error {
				return condition(status, v1alpha1.ConditionPreflight, metav1.ConditionFalse, v1alpha1.ReasonPreflightFailed)
			})
			if podTemplateOf(t, namespace, "photos") != applied {
				t.Error("the change was applied")
			}
			if err := kube.Delete(t.Context(), darkroom); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the deletion", func(ctx context.Context) error {
				_, err := get(ctx, &v1alpha1.Darkroom{}, namespace, "photos")
				if !apierrors.IsNotFound(err) {
					return fmt.Errorf("the Darkroom is still there (%w)", err)
				}
				return nil
			})
			now := mustGet(t, &appsv1.Deployment{}, namespace, other.made.Name)
			if now.UID != other.made.UID || now.ResourceVersion != other.made.ResourceVersion {
				t.Errorf("it was written: %+v", now)
			}
		})
	}
}

func TestNoMorePreflightPodsThanAllowed(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	images := &source{}
	images.serves()
	startOperator(t, namespace, withPreflight(images, 1))
	var darkrooms []*v1alpha1.Darkroom
	for i := range 4 {
		darkroom := probed(namespace, fmt.Sprintf("photos-%d", i))
		darkrooms = append(darkrooms, darkroom)
		create(t, darkroom)
		eventually(t, "the release", installed(namespace, darkroom.Name))
		becomeReady(t, namespace, darkroom.Name)
		eventuallyReady(t, darkroom)
	}
	most := kubelet(t, namespace)
	templates := map[string]string{}
	for _, darkroom := range darkrooms {
		templates[darkroom.Name] = podTemplateOf(t, namespace, darkroom.Name)
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "debug" })
	}
	for _, darkroom := range darkrooms {
		eventuallyRolled(t, namespace, darkroom.Name, templates[darkroom.Name])
	}
	if got := most(); got != 1 {
		t.Errorf("%d preflight pods at one time, want 1", got)
	}
}
