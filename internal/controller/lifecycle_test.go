package controller_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
)

func TestSamplesBecomeReadyAndGoWithoutTrace(t *testing.T) {
	t.Parallel()
	samples, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "darkroom-*.yaml"))
	if err != nil || len(samples) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	namespace := newNamespace(t)
	startOperator(t, namespace)
	for _, sample := range samples {
		raw, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		darkroom := &v1alpha1.Darkroom{}
		if err := yaml.UnmarshalStrict(raw, darkroom); err != nil || darkroom.Kind != v1alpha1.Kind {
			continue // a Secret that a Darkroom references
		}
		t.Run(filepath.Base(sample), func(t *testing.T) {
			darkroom.Namespace = namespace
			if ref := darkroom.Spec.Source.CredentialsSecretRef; ref != nil {
				create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: ref.Name}})
			}
			if ingress := darkroom.Spec.Ingress; ingress != nil && ingress.TLSSecretName != "" {
				create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: ingress.TLSSecretName}})
			}
			create(t, darkroom)
			becomeReady(t, namespace, darkroom.Name)
			var hosts []string
			for _, subDomain := range darkroom.Spec.SubDomains {
				hosts = append(hosts, hostIn(subDomain))
			}
			slices.Sort(hosts)
			eventuallyStatus(t, darkroom, "Ready", isIn(v1alpha1.PhaseReady), isReady(), hasDomains(hosts...))
			now := mustGet(t, &v1alpha1.Darkroom{}, namespace, darkroom.Name)
			if deployed := now.Status.DeployedRelease; deployed == nil || deployed.Name != darkroom.Name {
				t.Errorf("got deployedRelease %+v", deployed)
			}
			for _, entry := range now.ManagedFields {
				if entry.Subresource == "status" &&
					entry.Manager != status.FieldManager && entry.Manager != status.HelmFieldManager {
					t.Errorf("field manager %s writes the status", entry.Manager)
				}
			}

			remove(t, darkroom)
			eventually(t, "nothing left", gone(darkroom))
		})
	}
	eventuallyEvent(t, namespace, "Installed")
	eventuallyEvent(t, namespace, "Uninstalled")
}

func TestObjectsThatAreDeletedOrRelabeledAreRestored(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t, func(d *v1alpha1.Darkroom) {
		d.Spec.Source = inlineSource("secret")
		d.Spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Enabled: true}
		d.Spec.Replicas = ptr.To(int32(3))
	})
	before, err := belongings(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		object, name := &before[i], before[i].GetKind()+" "+before[i].GetName()
		t.Run("deleted "+name, func(t *testing.T) {
			remove(t, object.DeepCopy())
			eventuallyIs(t, "another one", object, object.GetNamespace(), object.GetName(),
				func(now *unstructured.Unstructured) bool {
					return now.GetUID() != object.GetUID()
				})
		})
		t.Run("relabeled "+name, func(t *testing.T) {
			if strings.HasPrefix(object.GetName(), "sh.helm.release") {
				t.Skip("Helm's Secrets are not repaired")
			}
			change(t, object.DeepCopy(), func(o *unstructured.Unstructured) {
				o.SetLabels(labels.Merge(o.GetLabels(), labels.Set{"app.kubernetes.io/part-of": "another-app"}))
			})
			eventuallyIs(t, "the label", object, object.GetNamespace(), object.GetName(),
				func(now *unstructured.Unstructured) bool {
					return now.GetLabels()["app.kubernetes.io/part-of"] == "darkroom"
				})
		})
	}
	eventuallyEvent(t, darkroom.Namespace, "Repaired")
}

func TestIdleDarkroomsCostNothing(t *testing.T) {
	t.Parallel()
	const (
		count  = 20
		resync = 200 * time.Millisecond
	)
	namespace, registry := newNamespace(t), prometheus.NewRegistry()
	operator := startOperator(t, namespace, withPeriod(resync), func(s *settings) { s.Metrics = registry })
	for i := range count {
		create(t, webFolder(namespace, fmt.Sprintf("photos-%d", i)))
	}
	for i := range count {
		name := fmt.Sprintf("photos-%d", i)
		becomeReady(t, namespace, name)
		eventuallyStatus(t, webFolder(namespace, name), "Ready", isReady())
	}
	// The caches lag behind the operator's own writes, which must not be mistaken for changes by others.
	eventually(t, "rest", quiet(operator))
	if repaired := events(t, namespace, "Repaired"); len(repaired) > 0 {
		t.Errorf("got %d events of repairs, want none: %s", len(repaired), repaired[0].Note)
	}

	versions, requests, reconciled := resourceVersions(t, namespace), len(operator.requests()), lastReconcile(t, registry)
	eventually(t, "ten resyncs without a request", func(context.Context) error {
		if sent := operator.requests()[requests:]; len(sent) > 0 {
			versions, requests, reconciled = resourceVersions(t, namespace), requests+len(sent), lastReconcile(t, registry)
			return fmt.Errorf("got %d requests while nothing changed, want none: %q", len(sent), sent)
		}
		if elapsed := lastReconcile(t, registry).Sub(reconciled); elapsed < 10*resync {
			return fmt.Errorf("got reconciles for %s, want them for %s", elapsed, 10*resync)
		}
		return nil
	})
	if after := resourceVersions(t, namespace); !maps.Equal(versions, after) {
		t.Errorf("resource versions changed from %v\nto %v", versions, after)
	}
}

// lastReconcile returns the time of an operator's last successful reconcile.
func lastReconcile(t *testing.T, registry prometheus.Gatherer) time.Time {
	t.Helper()
	const name = "darkroom_operator_last_successful_reconcile_timestamp_seconds"
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return time.UnixMilli(int64(1000 * family.GetMetric()[0].GetGauge().GetValue()))
		}
	}
	t.Fatalf("the metric %s is missing", name)
	return time.Time{}
}

func TestAPausedDarkroomIsLeftAloneAndCanBeDeleted(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	pause := func(d *v1alpha1.Darkroom) {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, v1alpha1.AnnotationPaused, "true")
	}
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		pause(d)
		d.Spec.LogLevel = "warn"
	})
	eventuallyStatus(t, darkroom, "paused", isIn(v1alpha1.PhasePaused), isPaused())
	if level := mustConfig(t, namespace, "photos").Data["LOG_LEVEL"]; level != "info" {
		t.Errorf("a paused Darkroom was changed: LOG_LEVEL is %q", level)
	}
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Annotations = nil })
	eventually(t, "the change", func(ctx context.Context) error { return logLevelIs("warn")(ctx, namespace) })

	change(t, darkroom, pause)
	eventuallyStatus(t, darkroom, "paused again", isIn(v1alpha1.PhasePaused))
	remove(t, darkroom)
	eventually(t, "it is gone", gone(darkroom))
}
