package controller_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// source simulates the Darkrooms of an operator and their sources, because no pods run here.
type source struct {
	mu      sync.Mutex
	outcome probe.Outcome
	probes  int
	last    probe.Target
}

func (s *source) probe(_ context.Context, _ types.NamespacedName, target probe.Target) probe.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.probes++
	s.last = target
	return s.outcome
}

// becomes sets the outcome of all later probes.
func (s *source) becomes(reason, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcome = probe.Outcome{Reason: reason, Message: message, StatusCode: 200}
}

func (s *source) seen() (int, probe.Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.probes, s.last
}

func withSource(s *source) operatorOption {
	return func(o *settings) { o.Probe, o.ProbeConcurrency = s.probe, 2 }
}

// another waits for the next probe.
func (s *source) another(t *testing.T) {
	t.Helper()
	before, _ := s.seen()
	eventually(t, "another probe", func(context.Context) error {
		if probes, _ := s.seen(); probes == before {
			return errors.New("no further probe")
		}
		return nil
	})
}

// serves makes all later probes succeed.
func (s *source) serves() {
	s.becomes(v1alpha1.ReasonImageServed, "GET /cat.jpg?w=16 is served as image/jpeg.")
}

// probed returns the Darkroom photos with a probe every 10 seconds.
func probed(namespace string, failureThreshold int32) *v1alpha1.Darkroom {
	darkroom := webFolder(namespace, "photos")
	darkroom.Spec.Probe = &v1alpha1.Probe{
		Path: "/cat.jpg", PeriodSeconds: ptr.To[int32](10),
		FailureThreshold: &failureThreshold,
	}
	return darkroom
}

// TestReadyFollowsTheImageOfTheProbe starts with a source that denies access. Then the source serves the image, and
// finally the probe is removed.
func TestReadyFollowsTheImageOfTheProbe(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	const denied = "GET /cat.jpg?w=16: HTTP 403. Check the keys."
	images := &source{}
	images.becomes(v1alpha1.ReasonSourceDenied, denied)
	each := &metrics.Darkrooms{}
	operator := startOperator(t, namespace, withSource(images), func(s *settings) { s.Darkrooms = each })
	darkroom := probed(namespace, 1)
	install(t, darkroom)
	eventuallyStatus(t, darkroom, "waits for pods",
		has(v1alpha1.ConditionSourceReady, metav1.ConditionUnknown, v1alpha1.ReasonProbePending))
	if probes, _ := images.seen(); probes != 0 {
		t.Errorf("got %d probes without pods, want none", probes)
	}

	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "ready pods that serve nothing", isIn(v1alpha1.PhaseDegraded), says(denied),
		isNotReady(v1alpha1.ReasonSourceDenied),
		has(v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonSourceDenied))
	if ready := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status.ReadyReplicas; ready != 1 {
		t.Errorf("got %d ready pods, want 1", ready)
	}

	images.serves()
	eventuallyStatus(t, darkroom, "an image is served", isReady(),
		has(v1alpha1.ConditionSourceReady, metav1.ConditionTrue, v1alpha1.ReasonImageServed))

	// Neither probes nor scrapes of metrics send requests to the API server.
	eventually(t, "rest", quiet(operator)) // the event follows the status
	requests := len(operator.requests())
	images.another(t)
	var scraped strings.Builder
	if err := each.Write(t.Context(), &scraped); err != nil {
		t.Fatal(err)
	}
	labels := `{namespace="` + namespace + `",name="photos"`
	for _, want := range []string{
		`darkroom_status_condition` + labels + `,type="Ready",status="True"} 1`,
		`darkroom_rollout_ready_replicas` + labels + `} 1`,
		`darkroom_probe_success` + labels + `} 1`,
		`darkroom_host` + labels + `,host="` + hostIn("photos") + `"} 1`,
	} {
		if !strings.Contains(scraped.String(), want) {
			t.Errorf("the metrics lack %s:\n%s", want, scraped.String())
		}
	}
	if sent := operator.requests()[requests:]; len(sent) > 0 {
		t.Errorf("got requests while nothing changed: %q", sent)
	}

	rollOut(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Probe = nil })
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "no probe", isReady(),
		has(v1alpha1.ConditionSourceReady, metav1.ConditionUnknown, v1alpha1.ReasonNoProbe))
}

// TestAPodThatDoesNotStartIsAskedForTheCause rolls out a source that does not respond. The test acts as the Deployment
// controller and as a kubelet whose startup probe fails.
func TestAPodThatDoesNotStartIsAskedForTheCause(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	images := &source{}
	images.serves()
	operator := startOperator(t, namespace, withSource(images))
	darkroom := probed(namespace, 1)
	create(t, darkroom)
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "an image is served", isReady())

	deployment := rollOut(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "https://wrong.example.com" })
	images.becomes(v1alpha1.ReasonImageUnprocessable, "GET /cat.jpg?w=16: HTTP 422. Check source.baseUrl.")
	asked := startPods(t, deployment)
	eventuallyStatus(t, darkroom, "the cause", isIn(v1alpha1.PhaseDegraded),
		says("the ready pods keep serving. GET /cat.jpg?w=16: HTTP 422."),
		isNotReady(v1alpha1.ReasonImageUnprocessable),
		has(v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonNewPodsNotServing),
		has(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonImageUnprocessable))
	if _, target := images.seen(); target.Pod != asked {
		t.Errorf("probed pod %+v, want %+v", target.Pod, asked)
	}
	requests := len(operator.requests())
	images.another(t)
	// Pods and ReplicaSets are listed at most twice within 10 seconds.
	if sent := len(operator.requests()) - requests; sent > 8 {
		t.Errorf("got %d requests to the API server between two probes, want at most 8", sent)
	}

	images.serves()
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "the rollout completes by itself", isReady())
	if _, target := images.seen(); target.Pod != (probe.Pod{}) {
		t.Errorf("pod %+v is still probed after the rollout", target.Pod)
	}
}

// rollOut changes the pod template of a Darkroom, and returns the changed Deployment.
func rollOut(t *testing.T, darkroom *v1alpha1.Darkroom, edit func(*v1alpha1.Darkroom)) *appsv1.Deployment {
	t.Helper()
	before := mustGet(t, &appsv1.Deployment{}, darkroom.Namespace, darkroom.Name).Generation
	change(t, darkroom, edit)
	return eventuallyIs(t, "a rollout", &appsv1.Deployment{}, darkroom.Namespace, darkroom.Name,
		func(now *appsv1.Deployment) bool {
			return now.Generation > before
		})
}

// startPods creates a pod of the current template that does not become ready, and returns it. It also creates a
// pod that has the same labels but no owner.
func startPods(t *testing.T, deployment *appsv1.Deployment) probe.Pod {
	t.Helper()
	labels := deployment.Spec.Template.Labels
	replicaSet := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: deployment.Namespace, Name: "photos-2", Labels: labels,
			Annotations: map[string]string{"deployment.kubernetes.io/revision": "2"},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment")),
			},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: deployment.Spec.Selector, Template: deployment.Spec.Template},
	}
	create(t, replicaSet)
	for name, owners := range map[string][]metav1.OwnerReference{
		"photos-2-new": {*metav1.NewControllerRef(replicaSet, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		"foreign":      nil,
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: name, Labels: labels, OwnerReferences: owners},
			Spec:       *deployment.Spec.Template.Spec.DeepCopy(),
		}
		pod.Spec.ServiceAccountName = ""
		create(t, pod)
		pod.Status.PodIP = "10.0.0.7"
		pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "darkroom",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{
				StartedAt: metav1.NewTime(time.Now().Add(-time.Minute)),
			}},
		}}
		if err := kube.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	change(t, deployment.DeepCopy(), func(d *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, "deployment.kubernetes.io/revision", "2")
	})
	rollsOut(t, deployment.Namespace, deployment.Name, func(*appsv1.Deployment) appsv1.DeploymentStatus {
		return appsv1.DeploymentStatus{
			Replicas: 2, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "ReplicaSetUpdated",
				LastUpdateTime: metav1.NewTime(time.Now().Add(-time.Minute)),
			}},
		}
	})
	return probe.Pod{Name: "photos-2-new", IP: "10.0.0.7", Port: "3000"}
}

// TestAnswersOfTheAPIServerAreNotTakenForThoseOfADarkroom probes a missing Service, a Service without pods, and a
// Service that the caller may not access, all through a real API server.
func TestAnswersOfTheAPIServerAreNotTakenForThoseOfADarkroom(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "empty"},
		Spec: corev1.ServiceSpec{
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80}},
			Selector: map[string]string{"no": "pod"},
		},
	})
	stranger := rest.CopyConfig(cluster)
	stranger.Impersonate.UserName = "stranger"
	for _, test := range []struct {
		name, service string
		config        *rest.Config
		want, says    string
	}{
		{"no Service", "none", cluster, v1alpha1.ReasonUnreachable, "of the Kubernetes API server"},
		{"no pods", "empty", cluster, v1alpha1.ReasonUnreachable, "of the Kubernetes API server"},
		{"no rights", "empty", stranger, v1alpha1.ReasonProbeForbidden, "of the Kubernetes API server"},
	} {
		client, err := probe.NewProxyClient(test.config)
		if err != nil {
			t.Fatal(err)
		}
		key := types.NamespacedName{Namespace: namespace, Name: test.service}
		got := client.ProbeDarkroom(t.Context(), key, probe.Target{Path: "/cat.jpg", Timeout: 10 * time.Second})
		if got.Reason != test.want || !strings.Contains(got.Message, test.says) {
			t.Errorf("%s: got %+v, want %s with %q in the message", test.name, got, test.want, test.says)
		}
	}
}

// A tenant who may write Services must not be able to choose the target of the operator's requests.
func TestAServiceOfAnotherOwnerIsNotProbed(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	images := &source{}
	images.serves()
	startOperator(t, namespace, withSource(images))
	darkroom := probed(namespace, 3)
	install(t, darkroom)
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "an image is served",
		has(v1alpha1.ConditionSourceReady, metav1.ConditionTrue, v1alpha1.ReasonImageServed))
	service := mustGet(t, &corev1.Service{}, namespace, "photos")
	if _, target := images.seen(); target.Address != service.Spec.ClusterIP+":80" {
		t.Errorf("probed %s, want the address of the Service, %s", target.Address, service.Spec.ClusterIP)
	}

	// The operator does not repair the Service of a paused Darkroom.
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Annotations[v1alpha1.AnnotationPaused] = "true" })
	eventuallyStatus(t, darkroom, "paused", isPaused())
	remove(t, service)
	create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos", Labels: service.Labels},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "metadata.internal"},
	})
	eventuallyStatus(t, darkroom, "nothing is probed",
		has(v1alpha1.ConditionSourceReady, metav1.ConditionUnknown, v1alpha1.ReasonProbePending))
}
