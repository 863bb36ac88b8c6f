//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
