//go:build e2e

package olm

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // the format of the images
	_ "image/png"  // and of some answers
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// baseDomain is set by the Subscription's environment, and the default otherwise.
const (
	baseDomain        = "darkroom.localhost"
	defaultBaseDomain = "darkroom.example.com"
)

// newDarkroom creates a Darkroom for the images.
func newDarkroom(t *testing.T, namespace, name string, changes ...func(*v1alpha1.Darkroom)) *v1alpha1.Darkroom {
	t.Helper()
	darkroom := darkrooms.New(name, namespace).
		Source(v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: images}).
		SubDomains(name+"."+namespace).
		Request(corev1.ResourceCPU, "10m").
		Request(corev1.ResourceMemory, "32Mi").Obj()
	for _, change := range changes {
		change(darkroom)
	}
	create(t, darkroom)
	return darkroom
}

// newNamespace creates a namespace in which Pod Security refuses what is not hardened.
func newNamespace(t *testing.T, name string) string {
	t.Helper()
	create(t, namespaceObject(name))
	return name
}

func namespaceObject(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
}

// waitEmpty waits until nothing of Darkrooms is left in a namespace.
func waitEmpty(t *testing.T, namespace string) {
	t.Helper()
	eventually(t, "namespace "+namespace+" is empty", func(ctx context.Context) error {
		for _, list := range []client.ObjectList{
			&corev1.PodList{}, &corev1.ServiceList{}, &corev1.SecretList{}, &appsv1.DeploymentList{}, &networkingv1.IngressList{},
		} {
			if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			if left := meta.LenList(list); left > 0 {
				return fmt.Errorf("%d of %T are left", left, list)
			}
		}
		return nil
	})
}

// waitServing waits until a Darkroom is ready and serves a resized image through the
// Ingress.
func waitServing(t *testing.T, darkroom *v1alpha1.Darkroom, domain string) {
	t.Helper()
	eventually(t, "Darkroom "+darkroom.Name+" is ready", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom); err != nil {
			return err
		}
		if status := darkroom.Status; status.Phase != v1alpha1.PhaseReady || status.ObservedGeneration != darkroom.Generation {
			return fmt.Errorf("it is %q: %s: %s", status.Phase, status.Message, podsOf(ctx, darkroom.Namespace))
		}
		return nil
	})
	host := darkroom.Spec.SubDomains[0] + "." + domain
	eventually(t, host+" serves", func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, ingressURL+"/images/sample.jpg?w=90", nil)
		if err != nil {
			return err
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %.200q: %w", response.Status, body, err)
		}
		img, _, err := image.DecodeConfig(bytes.NewReader(body))
		if err == nil && img.Width != 90 {
			err = fmt.Errorf("the image is %d pixels wide", img.Width)
		}
		return err
	})
}

// worksOn checks that an operator that has taken over leaves a Darkroom's pods alone, and
// adds one when it is asked to. It returns the pods that there are then.
func worksOn(t *testing.T, darkroom *v1alpha1.Darkroom, domain string, before []string) []string {
	t.Helper()
	patch := client.MergeFrom(darkroom.DeepCopy())
	darkroom.Spec.Replicas = ptr.To(int32(len(before) + 1))
	if err := kube.Patch(t.Context(), darkroom, patch); err != nil {
		t.Fatal(err)
	}
	waitServing(t, darkroom, domain)
	after := darkroomPods(t, darkroom)
	if replaced := slices.ContainsFunc(before, func(pod string) bool { return !slices.Contains(after, pod) }); replaced || len(before) == 0 || len(after) != len(before)+1 {
		t.Errorf("of the pods %q there are now %q", before, after)
	}
	return after
}

// darkroomPods are the UIDs of a Darkroom's pods.
func darkroomPods(t *testing.T, darkroom *v1alpha1.Darkroom) []string {
	t.Helper()
	return podUIDs(t, darkroom.Namespace, client.MatchingLabels{"app.kubernetes.io/instance": darkroom.Name})
}

// podUIDs are the UIDs of the pods in a namespace.
func podUIDs(t *testing.T, namespace string, options ...client.ListOption) []string {
	t.Helper()
	pods := &corev1.PodList{}
	if err := kube.List(t.Context(), pods, append(options, client.InNamespace(namespace))...); err != nil {
		t.Fatal(err)
	}
	uids := map[string]bool{}
	for _, pod := range pods.Items {
		uids[string(pod.UID)] = true
	}
	return slices.Sorted(maps.Keys(uids))
}

// emptyNamespace deletes the Darkrooms of a namespace while an operator is there to let
// go of them.
func emptyNamespace(t *testing.T, namespace string) {
	t.Helper()
	left := &v1alpha1.DarkroomList{}
	if err := kube.List(t.Context(), left, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for _, darkroom := range left.Items {
		remove(t, &darkroom)
	}
}
