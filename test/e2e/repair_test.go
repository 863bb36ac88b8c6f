//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestDeletedObjectsAreRecreated(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "deleted").Source(theSources.s3Inline(accessKey, secretKey)).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: darkroom.Name}}
	reread(t, ingress)
	blocked := ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name
	for _, object := range []client.Object{
		&networkingv1.Ingress{}, &corev1.Service{}, &corev1.ServiceAccount{}, &appsv1.Deployment{},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: configNameOf(t, darkroom)}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: credentialsNameOf(t, darkroom)}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: blocked}},
	} {
		object.SetNamespace(darkroom.Namespace)
		if object.GetName() == "" {
			object.SetName(darkroom.Name)
		}
		what := fmt.Sprintf("%T %s", object, object.GetName())
		reread(t, object)
		uid := object.GetUID()
		if err := kube.Delete(t.Context(), object); err != nil {
			t.Fatalf("delete %s: %v", what, err)
		}
		took := within(t, repairTimeout, what+" is back", func(ctx context.Context) error {
			if err := kube.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				return err
			}
			if object.GetUID() == uid || object.GetDeletionTimestamp() != nil {
				return errors.New("it is still the old one")
			}
			return nil
		})
		t.Logf("%s is back after %.1fs", what, took.Seconds())
	}
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	waitExact(t, darkroom)
}

func TestManualEditsAreReverted(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "edited").Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	key := metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: darkroom.Name}
	config := metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: configNameOf(t, darkroom)}

	const image = darkroomImage // without docker.io/, which is implied
	edit(t, "the Deployment's image", &appsv1.Deployment{ObjectMeta: key},
		func(d *appsv1.Deployment) { containerOf(d).Image = "gojektech/darkroom:v0.0.1" },
		func(d *appsv1.Deployment) bool { return strings.HasSuffix(image, "/"+containerOf(d).Image) })
	edit(t, "the Deployment's replicas", &appsv1.Deployment{ObjectMeta: key},
		func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(0)) },
		func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 1 })
	// Variables of the container win over those of the ConfigMap.
	edit(t, "a variable added to the Deployment", &appsv1.Deployment{ObjectMeta: key},
		func(d *appsv1.Deployment) {
			containerOf(d).Env = append(containerOf(d).Env, corev1.EnvVar{Name: "SOURCE_BASEURL", Value: "http://192.0.2.1"})
		},
		func(d *appsv1.Deployment) bool {
			return !slices.ContainsFunc(containerOf(d).Env, func(v corev1.EnvVar) bool { return v.Name == "SOURCE_BASEURL" })
		})
	// The port is the key of its entry, so this is an entry less and another one more.
	edit(t, "the Service's port", &corev1.Service{ObjectMeta: key},
		func(s *corev1.Service) { s.Spec.Ports[0].Port = 81 },
		func(s *corev1.Service) bool { return len(s.Spec.Ports) == 1 && s.Spec.Ports[0].Port == 80 })
	edit(t, "the Service's selector", &corev1.Service{ObjectMeta: key},
		func(s *corev1.Service) { s.Spec.Selector["app.kubernetes.io/instance"] = "another-app" },
		func(s *corev1.Service) bool { return s.Spec.Selector["app.kubernetes.io/instance"] == "edited" })
	edit(t, "the ConfigMap's base URL", &corev1.ConfigMap{ObjectMeta: config},
		func(c *corev1.ConfigMap) { c.Data["SOURCE_BASEURL"] = "http://192.0.2.1" },
		func(c *corev1.ConfigMap) bool { return c.Data["SOURCE_BASEURL"] == theSources.folderURL })
	edit(t, "a key added to the ConfigMap", &corev1.ConfigMap{ObjectMeta: config},
		func(c *corev1.ConfigMap) { c.Data["DEFAULTPARAMS"] = "mono=000000" },
		func(c *corev1.ConfigMap) bool { _, found := c.Data["DEFAULTPARAMS"]; return !found })
	edit(t, "the Ingress's host", &networkingv1.Ingress{ObjectMeta: key},
		func(i *networkingv1.Ingress) { i.Spec.Rules[0].Host = "elsewhere." + baseDomain },
		func(i *networkingv1.Ingress) bool { return i.Spec.Rules[0].Host == hostOf(darkroom) })

	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	if want := []string{hostOf(darkroom)}; !slices.Equal(darkroom.Status.Domains, want) {
		t.Errorf("status.domains are %q, want %q", darkroom.Status.Domains, want)
	}
}

// configNameOf names the ConfigMap that the pods of a Darkroom read.
func configNameOf(t *testing.T, darkroom *v1alpha1.Darkroom) string {
	t.Helper()
	return deployedContainer(t, darkroom).EnvFrom[0].ConfigMapRef.Name
}

// credentialsNameOf names the Secret that the pods of a Darkroom read.
func credentialsNameOf(t *testing.T, darkroom *v1alpha1.Darkroom) string {
	t.Helper()
	for _, variable := range deployedContainer(t, darkroom).Env {
		if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
			return variable.ValueFrom.SecretKeyRef.Name
		}
	}
	t.Fatal("no variable comes from a Secret")
	return ""
}

func deployedContainer(t *testing.T, darkroom *v1alpha1.Darkroom) *corev1.Container {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(darkroom), deployment); err != nil {
		t.Fatal(err)
	}
	return containerOf(deployment)
}

// containerOf returns the container that serves images.
func containerOf(deployment *appsv1.Deployment) *corev1.Container {
	return &deployment.Spec.Template.Spec.Containers[0]
}

// edit changes an object and waits until it is as it was.
func edit[T client.Object](t *testing.T, what string, object T, wrong func(T), right func(T) bool) {
	t.Helper()
	t.Run(what, func(t *testing.T) {
		t.Cleanup(func() {
			if t.Failed() {
				_ = kube.Delete(context.Background(), object) // recreated for the next case
			}
		})
		within(t, repairTimeout, "it is there", func(ctx context.Context) error {
			return kube.Get(ctx, client.ObjectKeyFromObject(object), object)
		})
		change(t, object, wrong)
		took := within(t, repairTimeout, "it is put right", func(ctx context.Context) error {
			if err := kube.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				return err
			}
			if !right(object) {
				return errors.New("it is still wrong")
			}
			return nil
		})
		t.Logf("after %.1fs", took.Seconds())
	})
}

func TestADeletedDarkroomLeavesNothing(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	darkroom := newDarkroom(namespace, "gone").Source(theSources.s3Inline(accessKey, secretKey)).Replicas(2).Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" }) // a second revision
	waitReady(t, darkroom)
	waitExact(t, darkroom)
	if err := kube.Delete(t.Context(), darkroom); err != nil {
		t.Fatal(err)
	}
	took := eventually(t, "nothing is left", func(ctx context.Context) error { return nothingLeft(ctx, namespace) })
	t.Logf("nothing is left after %.1fs", took.Seconds())
}

func TestANamespaceWithDarkroomsCanBeDeleted(t *testing.T) {
	t.Parallel()
	namespace := restricted("", "e2e-")
	create(t, namespace)
	darkroom := newDarkroom(namespace.Name, "inside").Obj()
	create(t, darkroom)
	waitReady(t, darkroom)
	if err := kube.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	took := eventually(t, "the namespace is gone", func(ctx context.Context) error {
		err := kube.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err == nil {
			return fmt.Errorf("it is %s: %+v", namespace.Status.Phase, namespace.Status.Conditions)
		}
		return nil
	})
	t.Logf("the namespace is gone after %.1fs", took.Seconds())
}
