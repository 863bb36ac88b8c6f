//go:build chaos

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// ledger records every foreign object in the state in which its owners left it. Owners write through the ledger, which
// records the responses of the API server.
type ledger struct {
	// mu is held during a write, so that records are in the order of the writes.
	mu      sync.Mutex
	entries map[thing]*unstructured.Unstructured
	// closed is set when the objects are about to be deleted and no longer recorded.
	closed bool
	// restarts are the last restarts of Deployments of Darkrooms.
	restarts map[types.UID]string
}

// thing identifies an object.
type thing struct {
	kind schema.GroupVersionKind
	client.ObjectKey
}

func (t thing) String() string { return t.kind.Kind + " " + t.ObjectKey.String() }

func newLedger() *ledger {
	return &ledger{entries: map[thing]*unstructured.Unstructured{}, restarts: map[types.UID]string{}}
}

// thingOf returns the thing for an object with a kind.
func thingOf(object client.Object) thing {
	return thing{object.GetObjectKind().GroupVersionKind(), client.ObjectKeyFromObject(object)}
}

// isOwned reports whether an object belongs to a Darkroom.
func isOwned(object metav1.Object) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && owner.Kind == v1alpha1.Kind && object.GetLabels()[v1alpha1.LabelDarkroom] != ""
}

// create creates an object for its owner.
func (l *ledger) create(ctx context.Context, object client.Object) error {
	kind, err := apiutil.GVKForObject(object, kube.Scheme())
	if err != nil {
		return err
	}
	created := &unstructured.Unstructured{}
	if created.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(object); err != nil {
		return err
	}
	created.SetGroupVersionKind(kind)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[thingOf(created)] != nil {
		return apierrors.NewAlreadyExists(schema.GroupResource{Resource: kind.Kind}, created.GetName())
	}
	if err := kube.Create(ctx, created); err != nil {
		return err
	}
	l.record(created)
	return nil
}

// patch changes an object on behalf of one of its owners. Objects of Darkrooms are not recorded.
func (l *ledger) patch(ctx context.Context, t thing, patch client.Patch, options ...client.PatchOption) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(t.kind)
	object.SetNamespace(t.Namespace)
	object.SetName(t.Name)
	l.mu.Lock()
	defer l.mu.Unlock()
	// A change by others must not be recorded as the owner's change.
	if err := l.difference(ctx, t); err != nil {
		return err
	}
	if err := kube.Patch(ctx, object, patch, options...); err != nil {
		return err
	}
	if !isOwned(object) {
		l.record(object)
	}
	return nil
}

// delete deletes the objects in a namespace that match a filter, on behalf of their owner.
func (l *ledger) delete(ctx context.Context, namespace string, filter func(*unstructured.Unstructured) bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.selected(namespace, filter) {
		if err := l.difference(ctx, t); err != nil {
			return err
		}
		uid := l.entries[t].GetUID()
		if err := kube.Delete(ctx, l.entries[t].DeepCopy(), client.Preconditions{UID: &uid}); err != nil {
			return fmt.Errorf("delete %s for its owner: %w", t, err)
		}
		delete(l.entries, t)
	}
	return nil
}

// rewrite lets Helm change the revisions of a release, and records the result.
func (l *ledger) rewrite(ctx context.Context, release client.ObjectKey, act func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.selected(release.Namespace, isRevisionOf(release.Name))
	for _, t := range before {
		if err := l.difference(ctx, t); err != nil {
			return err
		}
	}
	actErr := act()
	secrets := &unstructured.UnstructuredList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := kube.List(ctx, secrets, client.InNamespace(release.Namespace),
		client.MatchingLabels(revisionLabels(release.Name)))
	if err != nil {
		return err
	}
	for _, t := range before {
		delete(l.entries, t)
	}
	for i := range secrets.Items {
		if object := &secrets.Items[i]; !isOwned(object) {
			l.record(object)
		}
	}
	return actErr
}

// close forgets all objects before they are deleted.
func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	clear(l.entries)
}

func (l *ledger) record(object *unstructured.Unstructured) {
	if !l.closed {
		l.entries[thingOf(object)] = object
	}
}

// has reports whether an object of a kind and name is recorded.
func (l *ledger) has(kind string, key client.ObjectKey) bool {
	return len(l.things(key.Namespace, func(object *unstructured.Unstructured) bool {
		return object.GetKind() == kind && object.GetName() == key.Name
	})) > 0
}

// things returns the sorted names of recorded objects in a namespace that match a filter.
func (l *ledger) things(namespace string, filter func(*unstructured.Unstructured) bool) []thing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.selected(namespace, filter)
}

// selected is like things, for callers that hold mu.
func (l *ledger) selected(namespace string, filter func(*unstructured.Unstructured) bool) []thing {
	var out []thing
	for t, object := range l.entries {
		if t.Namespace == namespace && filter(object) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b thing) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// differences returns the differences between the cluster and the records.
func (l *ledger) differences(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for t := range l.entries {
		if err := l.difference(ctx, t); err != nil {
			errs = append(errs, err)
		}
	}
	return shorten(errs)
}

// difference returns the difference between a live object and its record, if it has one.
func (l *ledger) difference(ctx context.Context, t thing) error {
	recorded := l.entries[t]
	if recorded == nil {
		return nil
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(t.kind)
	if err := kube.Get(ctx, t.ObjectKey, live); apierrors.IsNotFound(err) {
		return fmt.Errorf("%s is gone, and its owners did not delete it", t)
	} else if err != nil {
		return err
	}
	if want, got := contentOf(recorded), contentOf(live); want != got {
		return fmt.Errorf("%s was changed:\n  its owners left %s\n  it is now       %s", t, want, got)
	}
	return nil
}

// clusterWritten are the kinds that kube-controller-manager writes.
var clusterWritten = []string{"Deployment", "HorizontalPodAutoscaler"}

// contentOf returns the whole object as JSON, so that even a changed resource version is a difference. For kinds that
// kube-controller-manager writes, it omits the status, the revision of a Deployment, the resource version and the
// managed fields.
func contentOf(object *unstructured.Unstructured) string {
	if slices.Contains(clusterWritten, object.GetKind()) {
		object = object.DeepCopy()
		unstructured.RemoveNestedField(object.Object, "status")
		unstructured.RemoveNestedField(object.Object, "metadata", "resourceVersion")
		unstructured.RemoveNestedField(object.Object, "metadata", "managedFields")
		annotations := maps.Clone(object.GetAnnotations())
		delete(annotations, "deployment.kubernetes.io/revision")
		object.SetAnnotations(annotations)
	}
	raw, err := json.Marshal(object.Object)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
