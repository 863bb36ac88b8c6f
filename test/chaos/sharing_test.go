//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

const (
	// fightPeriod is for how long the writes of a fight are counted.
	fightPeriod = time.Minute
	// fightWrites is the number of writes to a contested object that count as a few.
	fightWrites = 10
)

// TestSharing has conflicts that need controllers and pods, each in its own namespace. The
// tests of internal/controller have the others, and the crowd a mixture of all.
func TestSharing(t *testing.T) {
	witness := newWitness(t, mustAdministrator(t))
	o := launchAs(t, witness.kubeconfig, "sharing").waitReady(t)
	defer func() { o.kill() }()

	t.Run("at the same time", func(t *testing.T) {
		scenario := func(name string, run func(*testing.T)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel() // most of them wait
				run(t)
			})
		}
		scenario("another controller contests a field of the Service", func(t *testing.T) { contestedService(t, witness) })
		scenario("the ServiceAccount of a stuck rollout", accountOfAStuckRollout)
		scenario("a node of another architecture", anotherArchitecture)
	})
	if err := o.alive(); err != nil {
		t.Fatal(err)
	}
}

func mustAdministrator(t *testing.T) *rest.Config {
	t.Helper()
	administrator, err := access.Administrator()
	if err != nil {
		t.Fatal(err)
	}
	return administrator
}

// newNamespace makes a namespace that goes when the test ends.
func newNamespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "sharing-"}}
	if err := kube.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Without Darkrooms it goes without the operator too.
		ctx := context.WithoutCancel(t.Context())
		if err := client.IgnoreNotFound(kube.Delete(ctx, made)); err != nil {
			t.Error(err)
		}
	})
	return made.Name
}

// readyPhotos makes a Darkroom in a namespace of its own, and waits until it is ready.
func readyPhotos(t *testing.T) *v1alpha1.Darkroom {
	t.Helper()
	darkroom := crowdDarkroom(client.ObjectKey{Namespace: newNamespace(t), Name: "photos"})
	create(t, darkroom)
	waitVerdict(t, darkroom, "is ready", notReady)
	return darkroom
}

// waitVerdict waits until nothing is wrong with a Darkroom.
func waitVerdict(t *testing.T, darkroom *v1alpha1.Darkroom, what string, verdict func(*v1alpha1.Darkroom) error) {
	t.Helper()
	eventually(t, darkroom.Name+" "+what, func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom); err != nil {
			return err
		}
		return verdict(darkroom)
	})
}

func change(t *testing.T, object client.Object, format string, args ...any) {
	t.Helper()
	if err := kube.Patch(t.Context(), object, mergePatch(format, args...)); err != nil {
		t.Fatalf("change %T %s: %v", object, client.ObjectKeyFromObject(object), err)
	}
}

func remove(t *testing.T, object client.Object) {
	t.Helper()
	if err := kube.Delete(t.Context(), object); err != nil {
		t.Fatalf("delete %T %s: %v", object, client.ObjectKeyFromObject(object), err)
	}
}

// contestedService has another controller change a field that the chart sets, and do so
// again at once whenever it is put right.
func contestedService(t *testing.T, w *witness) {
	darkroom := readyPhotos(t)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: darkroom.Name}}
	started := time.Now()
	others := react(t, service, func(live *corev1.Service) client.Patch {
		if live.Spec.Selector["contested"] == "yes" {
			return nil
		}
		return mergePatch(`{"spec":{"selector":{"contested":"yes"}}}`)
	})
	countChanges(t, w, service, started, others, fightWrites)
	if others.count() < 2 {
		t.Errorf("the other controller wrote %d times: its change was not reverted", others.count())
	}
	eventually(t, "the Darkroom names the other writer", func(ctx context.Context) error { return namesWriter(ctx, darkroom, contender) })
	others.stop()
	waitVerdict(t, darkroom, "is ready once the other controller has stopped", notReady)
	eventually(t, "the Service is put right", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
			return err
		}
		if service.Spec.Selector["contested"] != "" {
			return fmt.Errorf("its selector is %v", service.Spec.Selector)
		}
		return nil
	})
	vacate(t, darkroom.Namespace)
}

// namesWriter returns an error unless a condition or an event of a Darkroom names a
// field manager.
func namesWriter(ctx context.Context, darkroom *v1alpha1.Darkroom, manager string) error {
	if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom); err != nil {
		return err
	}
	for _, condition := range darkroom.Status.Conditions {
		if strings.Contains(condition.Message, manager) {
			return nil
		}
	}
	list := &eventsv1.EventList{}
	if err := kube.List(ctx, list, client.InNamespace(darkroom.Namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		if list.Items[i].Regarding.UID == darkroom.UID && strings.Contains(list.Items[i].Note, manager) {
			return nil
		}
	}
	return fmt.Errorf("no condition and none of %d events names %s", len(list.Items), manager)
}

// accountOfAStuckRollout changes to a ServiceAccount that does not exist. The old pods
// still serve by the chart's, and are replaced when one is lost.
func accountOfAStuckRollout(t *testing.T) {
	darkroom := readyPhotos(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: darkroom.Name}}
	old := readyPods(t, darkroom)
	change(t, darkroom, `{"spec":{"podTemplate":{"serviceAccountName":"missing"}}}`)
	eventually(t, "the new pods are refused", func(ctx context.Context) error { return rolloutStuck(ctx, darkroom) })
	for _, pod := range old {
		remove(t, &pod)
	}
	eventually(t, "the lost pod is replaced by one of the old template", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(account), account); err != nil {
			return fmt.Errorf("the account of the pods that serve: %w", err)
		}
		for _, pod := range readyPods(t, darkroom) {
			if pod.UID != old[0].UID && pod.Spec.ServiceAccountName == darkroom.Name {
				return nil
			}
		}
		return errors.New("no pod is ready")
	})
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: "missing"}})
	waitVerdict(t, darkroom, "is ready by the other account", notReady)
	eventually(t, "the chart's account is gone", func(ctx context.Context) error { return gone(ctx, account) })
	change(t, darkroom, `{"spec":{"podTemplate":null}}`)
	waitVerdict(t, darkroom, "is ready by the chart's account again", notReady)
	vacate(t, darkroom.Namespace)
}

// rolloutStuck returns an error unless the API server refuses new pods of a Darkroom.
func rolloutStuck(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	deployment := &appsv1.Deployment{}
	if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), deployment); err != nil {
		return err
	}
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue &&
			deployment.Status.ObservedGeneration == deployment.Generation {
			return nil
		}
	}
	return fmt.Errorf("the Deployment's conditions are %+v", deployment.Status.Conditions)
}

// readyPods are the pods of a Darkroom that are ready and not being deleted.
func readyPods(t *testing.T, darkroom *v1alpha1.Darkroom) []corev1.Pod {
	t.Helper()
	list := &corev1.PodList{}
	if err := kube.List(t.Context(), list, client.InNamespace(darkroom.Namespace), client.MatchingLabels{"app.kubernetes.io/instance": darkroom.Name}); err != nil {
		t.Fatal(err)
	}
	var out []corev1.Pod
	for i := range list.Items {
		pod := &list.Items[i]
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil {
				out = append(out, *pod)
			}
		}
	}
	return out
}

// anotherArchitecture adds an empty node of an architecture without an image of Darkroom.
func anotherArchitecture(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        "node-arm64",
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		Labels: map[string]string{
			"type": "kwok", "kubernetes.io/arch": "arm64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": "node-arm64",
		},
	}}
	create(t, node)
	t.Cleanup(func() { _ = kube.Delete(context.WithoutCancel(t.Context()), node) })
	const replicas = 6
	darkroom := crowdDarkroom(client.ObjectKey{Namespace: newNamespace(t), Name: "photos"})
	darkroom.Spec.Replicas = ptr.To[int32](replicas)
	create(t, darkroom)
	waitVerdict(t, darkroom, "is ready", notReady)
	pods := &corev1.PodList{}
	if err := kube.List(t.Context(), pods, client.InNamespace(darkroom.Namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName == node.Name {
			t.Errorf("pod %s is on the node of another architecture", pods.Items[i].Name)
		}
	}
	if len(pods.Items) != replicas {
		t.Errorf("there are %d pods, want %d", len(pods.Items), replicas)
	}

	// A private repository may have images for it.
	change(t, darkroom, `{"spec":{"image":{"repository":"registry.example.com/darkroom"},"podTemplate":{"nodeSelector":{"kubernetes.io/arch":"arm64"}}}}`)
	eventually(t, "a pod is on it", func(ctx context.Context) error {
		if err := kube.List(ctx, pods, client.InNamespace(darkroom.Namespace)); err != nil {
			return err
		}
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName == node.Name {
				return nil
			}
		}
		return errors.New("none is")
	})
}
