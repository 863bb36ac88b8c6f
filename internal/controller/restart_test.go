package controller_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// applied is the key of a revision's Secret under which what was applied is recorded.
const applied = "applied"

// restingOperator starts an operator, and returns it when it has nothing more to do.
func restingOperator(t *testing.T, namespace string, options ...operatorOption) *operator {
	t.Helper()
	o := startOperator(t, namespace, options...)
	eventually(t, "rest", quiet(o))
	return o
}

// revision reads the Secret of a release's newest revision.
func revision(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	secrets := &corev1.SecretList{}
	err := kube.List(ctx, secrets, inNamespace(namespace), client.MatchingLabels{"owner": "helm", "name": name, "status": "deployed"})
	if err == nil && len(secrets.Items) != 1 {
		err = fmt.Errorf("%d deployed revisions", len(secrets.Items))
	}
	if err != nil {
		return nil, err
	}
	return &secrets.Items[0], nil
}

func mustRevision(t *testing.T, namespace, name string) *corev1.Secret {
	t.Helper()
	secret, err := revision(t.Context(), namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestARestartedOperatorWritesNothing(t *testing.T) {
	t.Parallel()
	first, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	becomeReady(t, namespace, "photos")
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "the upgrade", installed(namespace, "photos"))
	becomeReady(t, namespace, "photos")
	eventually(t, "rest", quiet(first))
	first.kill()

	before := resourceVersions(t, namespace)
	second := restingOperator(t, namespace)
	if writes := second.requests.writes.Load(); writes > 0 {
		t.Errorf("%d writes, want none", writes)
	}
	if after := resourceVersions(t, namespace); !mapsEqual(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
}

// The record is compared with the caches, object by object.
func TestChangesWhileNoOperatorRanAreFound(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]struct {
		act   func(t *testing.T, namespace string)
		check func(ctx context.Context, namespace string) error
	}{
		"an object was deleted": {
			act: func(t *testing.T, namespace string) {
				remove(t, mustGet(t, &corev1.Service{}, namespace, "photos"))
			},
			check: func(ctx context.Context, namespace string) error {
				_, err := get(ctx, &corev1.Service{}, namespace, "photos")
				return err
			},
		},
		"an object was edited": {
			act: func(t *testing.T, namespace string) {
				change(t, mustGet(t, &networkingv1.Ingress{}, namespace, "photos"), func(i *networkingv1.Ingress) {
					i.Spec.Rules[0].Host = "elsewhere.example.com"
				})
			},
			check: func(ctx context.Context, namespace string) error {
				ingress, err := get(ctx, &networkingv1.Ingress{}, namespace, "photos")
				if err == nil && ingress.Spec.Rules[0].Host != hostIn("photos") {
					err = fmt.Errorf("its host is %s", ingress.Spec.Rules[0].Host)
				}
				return err
			},
		},
		"something was added to an object": {
			act: func(t *testing.T, namespace string) {
				change(t, mustGet(t, &appsv1.Deployment{}, namespace, "photos"), func(d *appsv1.Deployment) {
					d.Spec.Template.Spec.Containers[0].Env = append(d.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: "BY_HAND", Value: "true"})
				})
			},
			check: func(ctx context.Context, namespace string) error {
				deployment, err := get(ctx, &appsv1.Deployment{}, namespace, "photos")
				if err == nil {
					for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
						if variable.Name == "BY_HAND" {
							err = fmt.Errorf("it has the variable %s", variable.Name)
						}
					}
				}
				return err
			},
		},
		"the Darkroom was changed": {
			act: func(t *testing.T, namespace string) {
				change(t, mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos"), func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
			},
			check: logLevelIs("warn"),
		},
		"another client wrote the revision": {
			act: func(t *testing.T, namespace string) {
				// As Helm does, which replaces what is in the Secret.
				secret := mustRevision(t, namespace, "photos")
				change(t, secret, func(s *corev1.Secret) { delete(s.Data, applied); s.Annotations = nil })
				change(t, mustConfig(t, namespace, "photos"), func(c *corev1.ConfigMap) { c.Data["LOG_LEVEL"] = "debug" })
			},
			check: logLevelIs("info"),
		},
		"the record is rubbish": {
			act: func(t *testing.T, namespace string) {
				change(t, mustRevision(t, namespace, "photos"), func(s *corev1.Secret) { s.Data[applied] = []byte(`{"objects":[{"state":"?"}]}`) })
				change(t, mustConfig(t, namespace, "photos"), func(c *corev1.ConfigMap) { c.Data["LOG_LEVEL"] = "debug" })
			},
			check: logLevelIs("info"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, darkroom := startWithPhotos(t)
			namespace := darkroom.Namespace
			eventually(t, "rest", quiet(first))
			first.kill()

			damage.act(t, namespace)
			startOperator(t, namespace)
			eventually(t, "what the Darkroom says", func(ctx context.Context) error { return damage.check(ctx, namespace) })
		})
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

// The status of an autoscaler is written several times a minute.
func TestStatusWritesOfAnAutoscalerCauseNoReconcile(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t, func(d *v1alpha1.Darkroom) {
		d.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: ptr.To[int32](1), MaxReplicas: 3}
	})
	namespace := darkroom.Namespace
	eventually(t, "rest", quiet(operator))

	asked := operator.requests.count.Load()
	autoscaler := mustGet(t, &autoscalingv2.HorizontalPodAutoscaler{}, namespace, "photos")
	for replicas := range int32(3) {
		before := autoscaler.DeepCopy()
		autoscaler.Status.CurrentReplicas, autoscaler.Status.DesiredReplicas = replicas, replicas+1
		if err := kube.Status().Patch(t.Context(), autoscaler, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	// The edit comes after the reports, so when it is undone they were seen.
	change(t, autoscaler, func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Spec.MaxReplicas = 50 })
	eventually(t, "the repair", func(ctx context.Context) error {
		now, err := get(ctx, &autoscalingv2.HorizontalPodAutoscaler{}, namespace, "photos")
		if err == nil && now.Spec.MaxReplicas != 3 {
			err = fmt.Errorf("maxReplicas is %d", now.Spec.MaxReplicas)
		}
		return err
	})
	eventually(t, "rest", quiet(operator))
	// The release is read, one object is applied, and one event recorded.
	if requests := operator.requests.count.Load() - asked; requests > 3 {
		t.Errorf("%d requests for one repair", requests)
	}
}
