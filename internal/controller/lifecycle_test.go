package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// releaseKinds are the kinds that a release may be made of, Helm's Secrets included.
var releaseKinds = append(darkrooms.Belongings(),
	schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"})

// belongings returns what is there of a Darkroom.
func belongings(ctx context.Context, darkroom client.Object) ([]unstructured.Unstructured, error) {
	var found []unstructured.Unstructured
	for _, kind := range releaseKinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := kube.List(ctx, list, client.InNamespace(darkroom.GetNamespace()),
			client.MatchingLabels{v1alpha1.LabelDarkroom: darkroom.GetName()})
		if err != nil {
			return nil, err
		}
		found = append(found, list.Items...)
	}
	return found, nil
}

func names(objects []unstructured.Unstructured) []string {
	var names []string
	for _, object := range objects {
		names = append(names, object.GetKind()+" "+object.GetName())
	}
	slices.Sort(names)
	return names
}

// becomeReady plays the part of the Deployment controller: all pods are there.
func becomeReady(t testing.TB, namespace, name string) {
	t.Helper()
	eventually(t, "a Deployment", func(ctx context.Context) error {
		deployment, err := get(ctx, &appsv1.Deployment{}, namespace, name)
		if err != nil {
			return err
		}
		wanted := int32(1)
		if deployment.Spec.Replicas != nil {
			wanted = *deployment.Spec.Replicas
		}
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation,
			Replicas:           wanted, UpdatedReplicas: wanted, ReadyReplicas: wanted, AvailableReplicas: wanted,
		}
		return kube.Status().Update(ctx, deployment)
	})
}

func events(t *testing.T, namespace, reason string) []eventsv1.Event {
	t.Helper()
	list := &eventsv1.EventList{}
	if err := kube.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return e.Reason != reason })
}

func eventuallyEvent(t *testing.T, namespace, reason string) {
	t.Helper()
	eventually(t, "an event "+reason, func(context.Context) error {
		if len(events(t, namespace, reason)) == 0 {
			return fmt.Errorf("no event %s in %s", reason, namespace)
		}
		return nil
	})
}

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
			continue // a Secret beside a Darkroom
		}
		t.Run(filepath.Base(sample), func(t *testing.T) {
			darkroom.Namespace = namespace
			if ref := darkroom.Spec.Source.CredentialsSecretRef; ref != nil {
				create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: ref.Name}})
			}
			create(t, darkroom)
			becomeReady(t, namespace, darkroom.Name)
			eventuallyStatus(t, darkroom, "Ready", func(status v1alpha1.DarkroomStatus) error {
				if status.Phase != v1alpha1.PhaseReady {
					return fmt.Errorf("phase is %s: %s", status.Phase, status.Message)
				}
				return condition(status, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
			})

			var want []string
			for _, subDomain := range darkroom.Spec.SubDomains {
				want = append(want, subDomain+"."+baseDomain)
			}
			slices.Sort(want)
			status := mustGet(t, &v1alpha1.Darkroom{}, namespace, darkroom.Name).Status
			if !slices.Equal(status.Domains, want) {
				t.Errorf("domains are %v, want %v", status.Domains, want)
			}
			if status.DeployedRelease == nil || status.DeployedRelease.Name != darkroom.Name {
				t.Errorf("deployedRelease is %+v", status.DeployedRelease)
			}

			remove(t, darkroom)
			eventually(t, "nothing left", func(ctx context.Context) error {
				if _, err := get(ctx, &v1alpha1.Darkroom{}, namespace, darkroom.Name); !apierrors.IsNotFound(err) {
					return fmt.Errorf("the Darkroom is still there (%w)", err)
				}
				left, err := belongings(ctx, darkroom)
				if len(left) > 0 {
					return fmt.Errorf("left behind: %v", names(left))
				}
				return err
			})
		})
	}
	eventuallyEvent(t, namespace, "Installed")
	eventuallyEvent(t, namespace, "Uninstalled")
}

func TestCredentialsAreInSecretsAlone(t *testing.T) {
	t.Parallel()
	const canary = "CANARY0SECRET0KEY"
	namespace := newNamespace(t)
	startOperator(t, namespace)
	darkroom := webFolder(namespace, "photos")
	darkroom.Spec.Source = v1alpha1.Source{
		Type: v1alpha1.S3, Bucket: "photos", Region: "eu-west-2", AccessKey: canary + "0", SecretKey: canary + "1",
	}
	create(t, darkroom)
	becomeReady(t, namespace, "photos")
	eventually(t, "the release", installed(namespace, "photos"))
	eventuallyEvent(t, namespace, "Installed")

	objects, err := belongings(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	inSecret := false
	for _, object := range objects {
		raw, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if object.GetKind() == "Secret" {
			inSecret = inSecret || strings.Contains(object.GetName(), "credentials")
			continue
		}
		if strings.Contains(string(raw), canary) {
			t.Errorf("%s %s holds a credential", object.GetKind(), object.GetName())
		}
	}
	if !inSecret {
		t.Error("no Secret holds the credentials")
	}
	status, err := json.Marshal(mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status)
	if err != nil {
		t.Fatal(err)
	}
	all := &eventsv1.EventList{}
	if err := kube.List(t.Context(), all, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"status": string(status), "events": string(written)} {
		if strings.Contains(text, canary) || strings.Contains(text, "manifest") {
			t.Errorf("the %s holds a credential or a manifest: %s", what, text)
		}
	}
}

func TestManualChangesAreReverted(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	darkroom := webFolder(namespace, "photos")
	darkroom.Spec.Source = v1alpha1.Source{Type: v1alpha1.S3, Bucket: "b", Region: "r", AccessKey: "a", SecretKey: "s"}
	darkroom.Spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Enabled: true}
	replicas := int32(3)
	darkroom.Spec.Replicas = &replicas
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "photos"))
	before, err := belongings(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}

	for _, object := range before {
		name := object.GetKind() + " " + object.GetName()
		t.Run("deleted "+name, func(t *testing.T) {
			remove(t, object.DeepCopy())
			eventually(t, name, func(ctx context.Context) error {
				again := object.DeepCopy()
				if err := kube.Get(ctx, client.ObjectKeyFromObject(&object), again); err != nil {
					return err
				}
				if again.GetUID() == object.GetUID() {
					return fmt.Errorf("it is still the old one")
				}
				return nil
			})
		})
		t.Run("label taken off "+name, func(t *testing.T) {
			if strings.HasPrefix(object.GetName(), "sh.helm.release") {
				t.Skip("Helm's own bookkeeping")
			}
			patch := client.RawPatch("application/merge-patch+json",
				[]byte(`{"metadata":{"labels":{"app.kubernetes.io/part-of":"another-app"}}}`))
			if err := kube.Patch(t.Context(), object.DeepCopy(), patch); err != nil {
				t.Fatal(err)
			}
			eventually(t, name, func(ctx context.Context) error {
				again := object.DeepCopy()
				if err := kube.Get(ctx, client.ObjectKeyFromObject(&object), again); err != nil {
					return err
				}
				if got := again.GetLabels()["app.kubernetes.io/part-of"]; got != "darkroom" {
					return fmt.Errorf("label is %q", got)
				}
				return nil
			})
		})
	}

	t.Run("key added to the ConfigMap", func(t *testing.T) {
		configMap := mustConfig(t, namespace, "photos")
		change(t, configMap, func(c *corev1.ConfigMap) { c.Data["DEBUG"] = "true" })
		eventually(t, "its absence", func(ctx context.Context) error {
			now, err := configuration(ctx, namespace, "photos")
			if _, found := now.Data["DEBUG"]; err == nil && found {
				return fmt.Errorf("it is still there: %v", now.Data)
			}
			return err
		})
	})
	t.Run("variable added to the Deployment", func(t *testing.T) {
		variableAddedByHandGoes(t, namespace)
	})
	t.Run("port of the Service", func(t *testing.T) {
		service := mustGet(t, &corev1.Service{}, namespace, "photos")
		change(t, service, func(s *corev1.Service) { s.Spec.Ports[0].Port = 8080 })
		eventually(t, "its port", func(ctx context.Context) error {
			now, err := get(ctx, &corev1.Service{}, namespace, "photos")
			if err == nil && (len(now.Spec.Ports) != 1 || now.Spec.Ports[0].Port != 80) {
				return fmt.Errorf("ports are %v", now.Spec.Ports)
			}
			return err
		})
	})
	t.Run("annotation added to the Ingress", func(t *testing.T) {
		// Controllers keep annotations on the objects of others: it stays.
		ingress := mustGet(t, &networkingv1.Ingress{}, namespace, "photos")
		change(t, ingress, func(i *networkingv1.Ingress) { i.Annotations["example.com/note"] = "mine" })
		change(t, ingress, func(i *networkingv1.Ingress) { i.Spec.Rules[0].Host = "other.example.com" })
		eventually(t, "its host", func(ctx context.Context) error {
			now, err := get(ctx, &networkingv1.Ingress{}, namespace, "photos")
			if err == nil && (now.Spec.Rules[0].Host != "photos."+baseDomain || now.Annotations["example.com/note"] != "mine") {
				return fmt.Errorf("host is %q, annotations %v", now.Spec.Rules[0].Host, now.Annotations)
			}
			return err
		})
	})
	eventuallyEvent(t, namespace, "Repaired")
}

func TestIdleDarkroomsCostNothing(t *testing.T) {
	t.Parallel()
	const count = 20
	namespace := newNamespace(t)
	operator := startOperator(t, namespace, withPeriod(200*time.Millisecond))
	for i := range count {
		create(t, webFolder(namespace, fmt.Sprintf("photos-%d", i)))
	}
	for i := range count {
		name := fmt.Sprintf("photos-%d", i)
		becomeReady(t, namespace, name)
		eventuallyCondition(t, webFolder(namespace, name), "Ready", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
	}
	// The first looks after an install may still find a cache that lags behind.
	eventually(t, "no more requests", func(context.Context) error {
		before := operator.requests.count.Load()
		time.Sleep(500 * time.Millisecond)
		if after := operator.requests.count.Load(); after != before {
			return fmt.Errorf("%d requests in half a second", after-before)
		}
		return nil
	})

	versions := resourceVersions(t, namespace)
	requests := operator.requests.count.Load()
	time.Sleep(2 * time.Second) // some 200 looks at 20 Darkrooms
	if after := operator.requests.count.Load(); after != requests {
		t.Errorf("%d requests while nothing changed", after-requests)
	}
	if after := resourceVersions(t, namespace); !mapsEqual(versions, after) {
		t.Errorf("resource versions changed:\n%v\n%v", versions, after)
	}
}

// resourceVersions returns that of every object in a namespace, Darkrooms included.
func resourceVersions(t *testing.T, namespace string) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, kind := range append([]schema.GroupVersionKind{v1alpha1.GroupVersionKind}, releaseKinds...) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := kube.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			versions[kind.Kind+"/"+item.GetName()] = item.GetResourceVersion()
		}
	}
	return versions
}

func mapsEqual(a, b map[string]string) bool {
	return fmt.Sprint(a) == fmt.Sprint(b)
}

func TestPausedDarkroomsAreLeftAlone(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
		d.Spec.LogLevel = "warn"
	})
	eventuallyStatus(t, darkroom, "paused", func(status v1alpha1.DarkroomStatus) error {
		if status.Phase != v1alpha1.PhasePaused || !v1alpha1.IsConditionTrue(status.Conditions, v1alpha1.ConditionPaused) {
			return fmt.Errorf("phase is %s", status.Phase)
		}
		return nil
	})
	if level := mustConfig(t, namespace, "photos").Data["LOG_LEVEL"]; level != "info" {
		t.Errorf("a paused Darkroom was changed: LOG_LEVEL is %q", level)
	}
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Annotations = nil })
	eventually(t, "the change", func(ctx context.Context) error { return logLevelIs("warn")(ctx, namespace) })
}

func TestTheStatusHasOneFieldManager(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	darkroom := webFolder(namespace, "photos")
	create(t, darkroom)
	becomeReady(t, namespace, "photos")
	eventuallyCondition(t, darkroom, "Ready", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
	if managers := statusManagers(t, darkroom); !slices.Equal(managers, []string{status.FieldManager}) {
		t.Errorf("writers of the status are %v", managers)
	}
}

// statusManagers returns the field managers of the status of a Darkroom.
func statusManagers(t *testing.T, darkroom *v1alpha1.Darkroom) []string {
	t.Helper()
	var managers []string
	for _, entry := range mustGet(t, &v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name).ManagedFields {
		if entry.Subresource == "status" {
			managers = append(managers, entry.Manager)
		}
	}
	return managers
}

func TestARevisionNamesTheAuthorOfItsSettings(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"logLevel":"debug"}}`))
	if err := kube.Patch(t.Context(), darkroom, patch, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a revision by kubectl-edit", func(ctx context.Context) error {
		revision, err := get(ctx, &corev1.Secret{}, darkroom.Namespace, "sh.helm.release.v1.photos.v2")
		if err == nil && !strings.HasSuffix(string(revision.Data[v1alpha1.RevisionAuthor]), "Z kubectl-edit") {
			err = fmt.Errorf("it is by %q", revision.Data[v1alpha1.RevisionAuthor])
		}
		return err
	})
}
