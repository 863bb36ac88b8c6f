package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clear deletes the Darkrooms of a namespace and everything that is left of them.
func clear(ctx context.Context, kube client.Client, namespace string) error {
	if err := deleteAll(ctx, kube, &v1alpha1.Darkroom{}, namespace); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		list := &v1alpha1.DarkroomList{}
		err := kube.List(ctx, list, client.InNamespace(namespace))
		return len(list.Items) == 0, err
	})
	if err != nil {
		return fmt.Errorf("wait for the deletion of Darkrooms: %w", err)
	}
	// There is no garbage collector, and the next subject would cache what is left.
	for _, kind := range []client.Object{
		&networkingv1.Ingress{}, &appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}, &corev1.Secret{},
	} {
		if err := deleteAll(ctx, kube, kind, namespace); err != nil {
			return err
		}
	}
	return nil
}

// deleteAll deletes all objects of a kind in a namespace. The API server gives up after a
// minute, in which it deletes some thousands.
func deleteAll(ctx context.Context, kube client.Client, kind client.Object, namespace string) error {
	for attempts := 20; ; attempts-- {
		err := kube.DeleteAllOf(ctx, kind, client.InNamespace(namespace))
		if err == nil || attempts == 0 || !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) {
			return err
		}
	}
}

func newDarkroom(namespace, name string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.DarkroomSpec{
			Source:     v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: "https://example.com/images"},
			SubDomains: []string{name},
		},
	}
}
