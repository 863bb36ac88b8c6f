//go:build e2e

package olm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

// baseDomain is the base domain set by the Subscription's environment; otherwise the default.
const (
	baseDomain        = "darkroom.localhost"
	defaultBaseDomain = "darkroom.example.com"
)

// newDarkroom creates a Darkroom for the images.
func newDarkroom(t *testing.T, namespace, name string) *v1alpha1.Darkroom {
	t.Helper()
	darkroom := darkrooms.New(name, namespace).
		WebFolder(imageURL).
		SubDomains(name+"."+namespace).
		Request(corev1.ResourceCPU, "10m").
		Request(corev1.ResourceMemory, "32Mi").Obj()
	create(t, darkroom)
	return darkroom
}

// newNamespace creates a namespace in which Pod Security rejects every pod that is not hardened.
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

// waitEmpty waits until a namespace contains no objects of Darkrooms.
func waitEmpty(t *testing.T, namespace string) {
	t.Helper()
	mustRun(t, "kubectl", "wait", "--for=delete", "pods,services,secrets,deployments,ingresses", "--all",
		"--namespace", namespace, "--timeout=4m")
}

// waitServing waits until a Darkroom is ready and serves a resized image through the
// Ingress.
func waitServing(t *testing.T, darkroom *v1alpha1.Darkroom, domain string) {
	t.Helper()
	eventually(t, "Darkroom "+darkroom.Name+" serves", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom); err != nil {
			return err
		}
		status := darkroom.Status
		if status.Phase != v1alpha1.PhaseReady || status.ObservedGeneration != darkroom.Generation {
			return fmt.Errorf("phase %q: %s: %s", status.Phase, status.Message, pods(ctx))
		}
		return images.Served(ctx, ingressURL, darkroom.Spec.SubDomains[0]+"."+domain, 90)
	})
}

// worksOn checks that an operator that has taken over does not replace a Darkroom's pods, and adds one on request. It
// returns the resulting pods.
func worksOn(t *testing.T, darkroom *v1alpha1.Darkroom, domain string, before []string) []string {
	t.Helper()
	patch := client.MergeFrom(darkroom.DeepCopy())
	darkroom.Spec.Replicas = ptr.To(int32(len(before) + 1))
	must(t, kube.Patch(t.Context(), darkroom, patch))
	waitServing(t, darkroom, domain)
	after := darkroomPods(t, darkroom)
	replaced := slices.ContainsFunc(before, func(pod string) bool { return !slices.Contains(after, pod) })
	if replaced || len(before) == 0 || len(after) != len(before)+1 {
		t.Errorf("the pods were %q and are now %q", before, after)
	}
	return after
}

// darkroomPods returns the sorted UIDs of a Darkroom's pods.
func darkroomPods(t *testing.T, darkroom *v1alpha1.Darkroom) []string {
	t.Helper()
	uids := strings.Fields(mustRun(t, "kubectl", "get", "pods", "--namespace", darkroom.Namespace,
		"--selector=app.kubernetes.io/instance="+darkroom.Name, "--output=jsonpath={.items[*].metadata.uid}"))
	slices.Sort(uids)
	return uids
}

// emptyNamespace deletes the Darkrooms in a namespace while an operator can remove their finalizers.
func emptyNamespace(t *testing.T, namespace string) {
	t.Helper()
	mustRun(t, "kubectl", "delete", "darkrooms", "--all", "--namespace", namespace, "--timeout=4m")
}
