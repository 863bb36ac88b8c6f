package controller_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

var errTooFew = errors.New("too few probes")

// source stands for the Darkrooms of an operator and their sources: no pods run here.
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

// becomes sets the outcome of probes from now on.
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
	return func(o *controller.Options, _ *rest.Config) { o.Probe, o.ProbeConcurrency = s.probe, 2 }
}

// TestReadyFollowsTheImageOfTheProbe goes from a source that refuses over one that
// serves to one whose probe was removed.
func TestReadyFollowsTheImageOfTheProbe(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	images := &source{}
	images.becomes(v1alpha1.ReasonSourceDenied, "GET /cat.jpg?w=16: HTTP 403. Check the keys.")
	each := &metrics.Darkrooms{}
	operator := startOperator(t, namespace, withSource(images), func(options *controller.Options, _ *rest.Config) { options.Darkrooms = each })
	darkroom := webFolder(namespace, "photos")
	darkroom.Spec.Probe = &v1alpha1.Probe{Path: "/cat.jpg", PeriodSeconds: ptr.To[int32](10), FailureThreshold: ptr.To[int32](1)}
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "photos"))
	eventuallyStatus(t, darkroom, "waits for pods", func(status v1alpha1.DarkroomStatus) error {
		return condition(status, v1alpha1.ConditionSourceReady, metav1.ConditionUnknown, v1alpha1.ReasonProbePending)
	})
	if probes, _ := images.seen(); probes != 0 {
		t.Errorf("%d probes before there were pods", probes)
	}

	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "ready pods that serve nothing", func(status v1alpha1.DarkroomStatus) error {
		if err := condition(status, v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonSourceDenied); err != nil {
			return err
		}
		return condition(status, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSourceDenied)
	})
	status := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status
	if status.Phase != v1alpha1.PhaseDegraded || status.Message != "GET /cat.jpg?w=16: HTTP 403. Check the keys." || status.ReadyReplicas != 1 {
		t.Errorf("phase %s, message %q, %d pods ready", status.Phase, status.Message, status.ReadyReplicas)
	}

	images.becomes(v1alpha1.ReasonImageServed, "GET /cat.jpg?w=16 is served as image/jpeg.")
	eventuallyStatus(t, darkroom, "an image is served", func(status v1alpha1.DarkroomStatus) error {
		if err := condition(status, v1alpha1.ConditionSourceReady, metav1.ConditionTrue, v1alpha1.ReasonImageServed); err != nil {
			return err
		}
		return condition(status, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
	})

	// Probes go on, at no cost to the API server, and neither do metrics cost anything.
	before, _ := images.seen()
	requests := operator.requests.count.Load()
	eventually(t, "another probe", func(context.Context) error {
		if probes, _ := images.seen(); probes == before {
			return errTooFew
		}
		return nil
	})
	var scraped strings.Builder
	if err := each.Write(t.Context(), &scraped); err != nil {
		t.Fatal(err)
	}
	labels := `{namespace="` + namespace + `",name="photos"`
	for _, want := range []string{
		`darkroom_info` + labels,
		`darkroom_status_condition` + labels + `,type="Ready",status="True"} 1`,
		`darkroom_rollout_desired_replicas` + labels + `} 1`,
		`darkroom_rollout_updated_replicas` + labels + `} 1`,
		`darkroom_rollout_ready_replicas` + labels + `} 1`,
		`darkroom_probe_success` + labels + `} 1`,
		`darkroom_probe_duration_seconds` + labels + `} `,
	} {
		if !strings.Contains(scraped.String(), want) {
			t.Errorf("the metrics lack %s:\n%s", want, scraped.String())
		}
	}
	if after := operator.requests.count.Load(); after != requests {
		t.Errorf("%d requests while nothing changed", after-requests)
	}

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Probe = nil })
	eventuallyStatus(t, darkroom, "no probe", func(status v1alpha1.DarkroomStatus) error {
		if err := condition(status, v1alpha1.ConditionSourceReady, metav1.ConditionUnknown, v1alpha1.ReasonNoProbe); err != nil {
			return err
		}
		return condition(status, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
	})
}

// TestAnswersOfTheAPIServerAreNotTakenForThoseOfADarkroom asks a real one for a Service
// that does not exist, one without pods, and one that the caller may not reach.
func TestAnswersOfTheAPIServerAreNotTakenForThoseOfADarkroom(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "empty"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}, Selector: map[string]string{"no": "pod"}},
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
		client, err := probe.NewClientVia(probe.ViaAPIServer, test.config)
		if err != nil {
			t.Fatal(err)
		}
		key := types.NamespacedName{Namespace: namespace, Name: test.service}
		got := client.ProbeService(t.Context(), key, probe.Target{Path: "/cat.jpg", Timeout: 10 * time.Second})
		if got.Reason != test.want || !strings.Contains(got.Message, test.says) {
			t.Errorf("%s: got %+v, want %s that says %q", test.name, got, test.want, test.says)
		}
	}
}
