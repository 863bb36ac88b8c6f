package controller_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// mustRevision reads the Secret of the deployed revision of a release.
func mustRevision(t *testing.T, namespace, name string) *corev1.Secret {
	t.Helper()
	secrets := &corev1.SecretList{}
	err := kube.List(t.Context(), secrets, client.InNamespace(namespace),
		client.MatchingLabels{"owner": "helm", "name": name, "status": "deployed"})
	if err != nil || len(secrets.Items) != 1 {
		t.Fatalf("got %d deployed revisions, want 1 (%v)", len(secrets.Items), err)
	}
	return &secrets.Items[0]
}

func TestARestartedOperatorWritesNothing(t *testing.T) {
	t.Parallel()
	first, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	becomeReady(t, namespace, "photos")
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	becomeReady(t, namespace, "photos")
	eventually(t, "rest", quiet(first))
	first.kill()

	before := resourceVersions(t, namespace)
	second := startOperator(t, namespace)
	eventually(t, "rest", quiet(second))
	if writes := second.writes(); writes > 0 {
		t.Errorf("%d writes, want none", writes)
	}
	if after := resourceVersions(t, namespace); !maps.Equal(before, after) {
		t.Errorf("resource versions changed from %v\nto %v", before, after)
	}
}

// A new version or another default setting usually changes only one or two objects of each Darkroom.
func TestARestartedOperatorAppliesOnlyTheObjectsThatItChanges(t *testing.T) {
	t.Parallel()
	first, darkroom := startWithPhotos(t)
	becomeReady(t, darkroom.Namespace, "photos")
	eventually(t, "rest", quiet(first))
	first.kill()

	second := startOperator(t, darkroom.Namespace,
		func(s *settings) { s.Values.IngressClassName = "another"; s.MaxConcurrentRollouts = 1 })
	eventuallyIs(t, "the class", &networkingv1.Ingress{}, darkroom.Namespace, "photos",
		func(i *networkingv1.Ingress) bool {
			return ptr.Deref(i.Spec.IngressClassName, "") == "another"
		})
	eventually(t, "rest", quiet(second))
	var applied []string
	for _, line := range second.requests() {
		kind := kindOf(line)
		if strings.HasPrefix(kind, "PATCH ") && !strings.HasPrefix(kind, "PATCH darkrooms") && kind != "PATCH secrets" {
			applied = append(applied, kind)
		}
	}
	if !slices.Equal(applied, []string{"PATCH ingresses"}) {
		t.Errorf("applied %q, want only the Ingress", applied)
	}
}

// edit returns a function that changes the object photos.
func edit[T client.Object](object T, mutate func(T)) func(*testing.T, string) {
	return func(t *testing.T, namespace string) {
		t.Helper()
		change(t, mustGet(t, object.DeepCopyObject().(T), namespace, "photos"), mutate)
	}
}

// is returns a check of the object photos.
func is[T client.Object](object T, satisfied func(T) bool) func(context.Context, string) error {
	return func(ctx context.Context, namespace string) error {
		found, err := get(ctx, object.DeepCopyObject().(T), namespace, "photos")
		if err == nil && !satisfied(found) {
			err = fmt.Errorf("got %s", encoded(found))
		}
		return err
	}
}

// A manualChange is a change of an object of the Darkroom photos.
type manualChange struct {
	act      func(t *testing.T, namespace string)
	reverted func(ctx context.Context, namespace string) error
}

// A running operator sees the changes through its watches; a restarted one compares the cached objects with its own
// records.
func TestManualChangesAreReverted(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]map[string]manualChange{
		"of objects": {
			"an object was deleted": {
				act: func(t *testing.T, namespace string) {
					remove(t, mustGet(t, &corev1.ServiceAccount{}, namespace, "photos"))
				},
				reverted: is(&corev1.ServiceAccount{}, func(*corev1.ServiceAccount) bool { return true }),
			},
			"an object was edited, and annotated by another controller": {
				act: edit(&networkingv1.Ingress{}, func(i *networkingv1.Ingress) {
					i.Spec.Rules[0].Host = "elsewhere.example.com"
					i.Annotations["example.com/note"] = "stays"
				}),
				reverted: is(&networkingv1.Ingress{}, func(i *networkingv1.Ingress) bool {
					return i.Spec.Rules[0].Host == hostIn("photos") && i.Annotations["example.com/note"] == "stays"
				}),
			},
			"the key of a list item was edited": {
				act: edit(&corev1.Service{}, func(s *corev1.Service) { s.Spec.Ports[0].Port = 8080 }),
				reverted: is(&corev1.Service{}, func(s *corev1.Service) bool {
					return len(s.Spec.Ports) == 1 && s.Spec.Ports[0].Port == 80
				}),
			},
			"a key was added to the ConfigMap": {
				act: func(t *testing.T, namespace string) {
					change(t, mustConfig(t, namespace, "photos"), func(c *corev1.ConfigMap) { c.Data["DEBUG"] = "true" })
				},
				reverted: func(ctx context.Context, namespace string) error {
					configMap, err := configuration(ctx, namespace, "photos")
					if err == nil && configMap.Data["DEBUG"] != "" {
						err = fmt.Errorf("the key still exists: %v", configMap.Data)
					}
					return err
				},
			},
			"a variable was added to the Deployment": {addVariable, variableIsGone},
		},
		"of the revision": {
			"another client wrote the revision": {
				act: func(t *testing.T, namespace string) {
					// Helm drops the annotations of a Secret that it rewrites.
					change(t, mustRevision(t, namespace, "photos"), func(s *corev1.Secret) { s.Annotations = nil })
					change(t, mustConfig(t, namespace, "photos"), func(c *corev1.ConfigMap) { c.Data["LOG_LEVEL"] = "debug" })
				},
				reverted: logLevelIs("info"),
			},
		},
	} {
		for _, running := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s while an operator ran: %t", name, running), func(t *testing.T) {
				t.Parallel()
				o, darkroom := startWithPhotos(t)
				eventually(t, "rest", quiet(o))
				if !running {
					o.kill()
				}
				for _, c := range changes {
					c.act(t, darkroom.Namespace)
				}
				if !running {
					startOperator(t, darkroom.Namespace)
				}
				for what, c := range changes {
					eventually(t, "no effect: "+what,
						func(ctx context.Context) error { return c.reverted(ctx, darkroom.Namespace) })
				}
			})
		}
	}
}

func logLevelIs(want string) func(context.Context, string) error {
	return func(ctx context.Context, namespace string) error {
		configMap, err := configuration(ctx, namespace, "photos")
		if err == nil && configMap.Data["LOG_LEVEL"] != want {
			err = fmt.Errorf("LOG_LEVEL is %q, want %q", configMap.Data["LOG_LEVEL"], want)
		}
		return err
	}
}

// The status of an autoscaler changes several times a minute.
func TestStatusWritesOfAnAutoscalerCauseNoReconcile(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t, func(d *v1alpha1.Darkroom) {
		d.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: ptr.To[int32](1), MaxReplicas: 3}
	})
	namespace := darkroom.Namespace
	eventually(t, "rest", quiet(operator))

	asked := len(operator.requests())
	autoscaler := mustGet(t, &autoscalingv2.HorizontalPodAutoscaler{}, namespace, "photos")
	for replicas := range int32(3) {
		before := autoscaler.DeepCopy()
		autoscaler.Status.CurrentReplicas, autoscaler.Status.DesiredReplicas = replicas, replicas+1
		if err := kube.Status().Patch(t.Context(), autoscaler, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	// The edit follows the status updates, so the operator has seen the updates once the edit is reverted.
	change(t, autoscaler, func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Spec.MaxReplicas = 50 })
	eventuallyIs(t, "the repair", &autoscalingv2.HorizontalPodAutoscaler{}, namespace, "photos",
		func(now *autoscalingv2.HorizontalPodAutoscaler) bool {
			return now.Spec.MaxReplicas == 3
		})
	eventually(t, "rest", quiet(operator))
	// A repair reads the object, because the cache may lag, applies it, and writes an event and the status.
	if requests := operator.requests()[asked:]; len(requests) > 4 {
		t.Errorf("got %d requests for one repair, want at most 4: %q", len(requests), requests)
	}
}
