package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// newNamespace creates a namespace for a test. No controller deletes namespaces here, so each name is unique.
func newNamespace(t testing.TB) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	create(t, namespace)
	return namespace.Name
}

func create(t testing.TB, object client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T: %v", object, err)
	}
}

func remove(t testing.TB, object client.Object, options ...client.DeleteOption) {
	t.Helper()
	if err := kube.Delete(t.Context(), object, options...); err != nil {
		t.Fatalf("delete %T: %v", object, err)
	}
}

func webFolder(namespace, name string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.DarkroomSpec{
			Source:     v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: "https://example.com/images"},
			SubDomains: []string{name},
		},
	}
}

// startWithPhotos starts an operator for a new namespace and waits until it has installed the Darkroom photos. The
// source is a web folder unless changes set another one.
func startWithPhotos(t testing.TB, changes ...func(*v1alpha1.Darkroom)) (*operator, *v1alpha1.Darkroom) {
	t.Helper()
	darkroom := webFolder(newNamespace(t), "photos")
	for _, change := range changes {
		change(darkroom)
	}
	started := startOperator(t, darkroom.Namespace)
	install(t, darkroom)
	return started, darkroom
}

// install creates a Darkroom and waits for its release.
func install(t testing.TB, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	create(t, darkroom)
	eventually(t, "the release", installed(darkroom.Namespace, darkroom.Name))
}

// upgrade changes a Darkroom and waits for the release of its new generation.
func upgrade(t testing.TB, darkroom *v1alpha1.Darkroom, mutate func(*v1alpha1.Darkroom)) {
	t.Helper()
	change(t, darkroom, mutate)
	eventually(t, "the upgrade", installed(darkroom.Namespace, darkroom.Name))
}

// eventually waits until a check returns no error.
func eventually(t testing.TB, what string, check func(context.Context) error) {
	t.Helper()
	limits := wait.Limits{Timeout: wait.Patience, Period: 20 * time.Millisecond}
	if err := limits.Until(context.WithoutCancel(t.Context()), what, check); err != nil { // also used in a Cleanup
		t.Fatal(err)
	}
}

// eventuallyIs waits until an object exists and satisfies a condition, and returns the object.
func eventuallyIs[T client.Object](
	t testing.TB, what string, object T, namespace, name string, satisfied func(T) bool,
) (found T) {
	t.Helper()
	eventually(t, what, func(ctx context.Context) (err error) {
		if found, err = get(ctx, object.DeepCopyObject().(T), namespace, name); err == nil && !satisfied(found) {
			err = fmt.Errorf("got %s", encoded(found))
		}
		return err
	})
	return found
}

// eventuallyThere waits until an object exists, and returns the object.
func eventuallyThere[T client.Object](t testing.TB, object T, namespace, name string) T {
	t.Helper()
	return eventuallyIs(t, fmt.Sprintf("%T %s", object, name), object, namespace, name, func(T) bool { return true })
}

// get reads an object from the API server.
func get[T client.Object](ctx context.Context, object T, namespace, name string) (T, error) {
	err := kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	return object, err
}

func mustGet[T client.Object](t testing.TB, object T, namespace, name string) T {
	t.Helper()
	object, err := get(t.Context(), object, namespace, name)
	if err != nil {
		t.Fatalf("get %T %s/%s: %v", object, namespace, name, err)
	}
	return object
}

// configuration reads the ConfigMap that the pods of a Darkroom use.
func configuration(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	deployment, err := get(ctx, &appsv1.Deployment{}, namespace, name)
	if err != nil {
		return nil, err
	}
	return get(ctx, &corev1.ConfigMap{}, namespace,
		deployment.Spec.Template.Spec.Containers[0].EnvFrom[0].ConfigMapRef.Name)
}

func mustConfig(t *testing.T, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	found, err := configuration(t.Context(), namespace, name)
	if err != nil {
		t.Fatalf("configuration of %s/%s: %v", namespace, name, err)
	}
	return found
}

// change applies a change to the current version of an object.
func change[T client.Object](t testing.TB, object T, mutate func(T)) {
	t.Helper()
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	before := object.DeepCopyObject().(client.Object)
	mutate(object)
	if err := kube.Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
		t.Fatalf("change %T %s: %v", object, client.ObjectKeyFromObject(object), err)
	}
}

// absent returns an error while an object exists.
func absent(object client.Object, namespace, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		if _, err := get(ctx, object, namespace, name); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%T %s still exists (%w)", object, name, err)
		}
		return nil
	}
}

// nothingLeft returns an error while a Darkroom has objects.
func nothingLeft(darkroom *v1alpha1.Darkroom) func(context.Context) error {
	return func(ctx context.Context) error {
		left, err := belongings(ctx, darkroom)
		if len(left) > 0 {
			return fmt.Errorf("left behind: %v", names(left))
		}
		return err
	}
}

// gone returns an error while a Darkroom or any of its objects exist.
func gone(darkroom *v1alpha1.Darkroom) func(context.Context) error {
	return func(ctx context.Context) error {
		return errors.Join(nothingLeft(darkroom)(ctx), absent(&v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name)(ctx))
	}
}

// releaseKinds are the kinds of objects that may belong to a release, including Helm's Secrets.
var releaseKinds = append(darkrooms.Belongings(),
	schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"})

// listed returns the objects of some kinds.
func listed(
	ctx context.Context, kinds []schema.GroupVersionKind, options ...client.ListOption,
) (found []unstructured.Unstructured, err error) {
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err = errors.Join(err, kube.List(ctx, list, options...))
		found = append(found, list.Items...)
	}
	return found, err
}

// belongings returns the existing objects of a Darkroom.
func belongings(ctx context.Context, darkroom client.Object) ([]unstructured.Unstructured, error) {
	return listed(ctx, releaseKinds, client.InNamespace(darkroom.GetNamespace()),
		client.MatchingLabels{v1alpha1.LabelDarkroom: darkroom.GetName()})
}

func nameOf(object unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

func names(objects []unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		names = append(names, nameOf(object))
	}
	slices.Sort(names)
	return names
}

// uids returns the UIDs of the objects of a Darkroom.
func uids(t *testing.T, darkroom *v1alpha1.Darkroom) map[string]types.UID {
	t.Helper()
	objects, err := belongings(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]types.UID{}
	for _, object := range objects {
		found[nameOf(object)] = object.GetUID()
	}
	return found
}

// resourceVersions returns the resource version of every object in a namespace, including Darkrooms.
func resourceVersions(t *testing.T, namespace string) map[string]string {
	t.Helper()
	objects, err := listed(t.Context(), append([]schema.GroupVersionKind{v1alpha1.GroupVersionKind}, releaseKinds...),
		client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, object := range objects {
		versions[nameOf(object)] = object.GetResourceVersion()
	}
	return versions
}

// becomeReady acts as the Deployment controller: all pods are ready.
func becomeReady(t testing.TB, namespace, name string) {
	t.Helper()
	rollsOut(t, namespace, name, func(d *appsv1.Deployment) appsv1.DeploymentStatus {
		wanted := ptr.Deref(d.Spec.Replicas, 1)
		return appsv1.DeploymentStatus{
			Replicas: wanted, UpdatedReplicas: wanted,
			ReadyReplicas: wanted, AvailableReplicas: wanted,
		}
	})
}

// failToStart acts as the Deployment controller: the only pod does not start.
func failToStart(t testing.TB, namespace, name string) {
	t.Helper()
	rollsOut(t, namespace, name, func(*appsv1.Deployment) appsv1.DeploymentStatus {
		return appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, UnavailableReplicas: 1}
	})
}

// rollsOut acts as the Deployment controller.
func rollsOut(t testing.TB, namespace, name string, statusOf func(*appsv1.Deployment) appsv1.DeploymentStatus) {
	t.Helper()
	eventually(t, "a Deployment", func(ctx context.Context) error {
		deployment, err := get(ctx, &appsv1.Deployment{}, namespace, name)
		if err != nil {
			return err
		}
		deployment.Status = statusOf(deployment)
		deployment.Status.ObservedGeneration = deployment.Generation
		return kube.Status().Update(ctx, deployment)
	})
}

// watched starts to watch the objects in a namespace. It returns a function that returns all events until its call.
func watched[T client.Object](t *testing.T, list client.ObjectList, namespace string) func() []T {
	t.Helper()
	watcher, err := kube.Watch(t.Context(), list, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watcher.Stop)
	var mu sync.Mutex
	var seen []T
	shown := map[string]string{} // the resource versions of existing objects, according to the watch
	go func() {
		for event := range watcher.ResultChan() {
			object, ok := event.Object.(T)
			if !ok {
				continue
			}
			mu.Lock()
			seen = append(seen, object)
			shown[object.GetName()] = object.GetResourceVersion()
			if event.Type == watch.Deleted {
				delete(shown, object.GetName())
			}
			mu.Unlock()
		}
	}()
	return func() (all []T) {
		t.Helper()
		eventually(t, "the watch shows what there is", func(ctx context.Context) error {
			if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			stored := map[string]string{}
			if err := meta.EachListItem(list, func(item runtime.Object) error {
				stored[item.(T).GetName()] = item.(T).GetResourceVersion()
				return nil
			}); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if !maps.Equal(shown, stored) {
				return fmt.Errorf("the watch has shown %v, want %v", shown, stored)
			}
			all = slices.Clone(seen)
			return nil
		})
		return all
	}
}
