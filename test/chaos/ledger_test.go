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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// ledger records every object that belongs to no Darkroom as its owners left it: each
// of them writes through the ledger, which keeps what the API server answered.
type ledger struct {
	// mu is held during a write, so that records are in the order of the writes.
	mu      sync.Mutex
	entries map[thing]*entry
	// abandoned are namespaces whose objects are not recorded any more.
	abandoned map[string]bool
}

// thing names an object.
type thing struct {
	kind schema.GroupVersionKind
	client.ObjectKey
}

func (t thing) String() string { return t.kind.Kind + " " + t.ObjectKey.String() }

// entry is an object as its owners left it.
type entry struct {
	thing
	object *unstructured.Unstructured
}

func newLedger() *ledger { return &ledger{entries: map[thing]*entry{}, abandoned: map[string]bool{}} }

// thingOf names an object of a registered type or an unstructured one.
func thingOf(object client.Object) (thing, error) {
	kind, err := apiutil.GVKForObject(object, kube.Scheme())
	return thing{kind, client.ObjectKeyFromObject(object)}, err
}

// isOwned reports whether an object belongs to a Darkroom.
func isOwned(object metav1.Object) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && owner.Kind == v1alpha1.Kind && object.GetLabels()[v1alpha1.LabelDarkroom] != ""
}

// create creates an object for its owner.
func (l *ledger) create(ctx context.Context, object client.Object) error {
	created, err := asUnstructured(object)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := (thing{created.GroupVersionKind(), client.ObjectKeyFromObject(created)}); l.entries[t] != nil {
		return apierrors.NewAlreadyExists(schema.GroupResource{Resource: t.kind.Kind}, t.Name)
	}
	if err := kube.Create(ctx, created); err != nil {
		return err
	}
	l.record(created)
	return nil
}

// patch changes an object for one of its owners. It may be an object of a Darkroom,
// which is not recorded.
func (l *ledger) patch(ctx context.Context, t thing, patch client.Patch, options ...client.PatchOption) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(t.kind)
	object.SetNamespace(t.Namespace)
	object.SetName(t.Name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.entries[t]; found != nil {
		// A change by others must not be recorded as the owner's.
		if err := found.difference(ctx); err != nil {
			return err
		}
	}
	if err := kube.Patch(ctx, object, patch, options...); err != nil {
		return err
	}
	if !isOwned(object) {
		l.record(object)
	}
	return nil
}

// delete deletes an object for its owner. One that is not there any more is reported as
// not found.
func (l *ledger) delete(ctx context.Context, t thing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.entries[t]
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: t.kind.Kind}, t.Name)
	}
	if err := found.difference(ctx); err != nil {
		return err
	}
	uid := found.object.GetUID()
	if err := kube.Delete(ctx, found.object.DeepCopy(), client.Preconditions{UID: &uid}); err != nil {
		return fmt.Errorf("delete %s for its owner: %w", t, err)
	}
	delete(l.entries, t)
	return nil
}

// rewrite does what a foreign client does with objects of one kind and some labels by
// itself, and records the outcome.
func (l *ledger) rewrite(ctx context.Context, kind schema.GroupVersionKind, namespace string, labels client.MatchingLabels, act func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for t, found := range l.entries {
		if t.kind == kind && t.Namespace == namespace && matches(found.object, labels) {
			if err := found.difference(ctx); err != nil {
				return err
			}
		}
	}
	actErr := act()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := kube.List(ctx, list, client.InNamespace(namespace), labels); err != nil {
		return err
	}
	live := map[thing]bool{}
	for i := range list.Items {
		if object := &list.Items[i]; !isOwned(object) {
			l.record(object)
			live[thing{kind, client.ObjectKeyFromObject(object)}] = true
		}
	}
	maps.DeleteFunc(l.entries, func(t thing, found *entry) bool {
		return t.kind == kind && t.Namespace == namespace && !live[t] && matches(found.object, labels)
	})
	return actErr
}

// abandon forgets the objects of a namespace that is about to be deleted.
func (l *ledger) abandon(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abandoned[namespace] = true
	maps.DeleteFunc(l.entries, func(t thing, _ *entry) bool { return t.Namespace == namespace })
}

func matches(object client.Object, labels client.MatchingLabels) bool {
	for key, value := range labels {
		if object.GetLabels()[key] != value {
			return false
		}
	}
	return true
}

func (l *ledger) record(object *unstructured.Unstructured) {
	t := thing{object.GroupVersionKind(), client.ObjectKeyFromObject(object)}
	if l.abandoned[t.Namespace] {
		return
	}
	if found := l.entries[t]; found != nil {
		found.object = object
		return
	}
	l.entries[t] = &entry{thing: t, object: object}
}

// has reports whether an object of a kind and name is recorded.
func (l *ledger) has(kind string, key client.ObjectKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for t := range l.entries {
		if t.kind.Kind == kind && t.ObjectKey == key {
			return true
		}
	}
	return false
}

// things returns the names of the recorded objects of a namespace that a filter selects,
// sorted.
func (l *ledger) things(namespace string, filter func(*unstructured.Unstructured) bool) []thing {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []thing
	for t, found := range l.entries {
		if t.Namespace == namespace && filter(found.object) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b thing) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// differences returns how the cluster differs from the records.
func (l *ledger) differences(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, found := range l.entries {
		if err := found.difference(ctx); err != nil {
			errs = append(errs, err)
		}
	}
	return shorten(errs)
}

// difference returns how the live object differs from the record.
func (e *entry) difference(ctx context.Context) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(e.kind)
	if err := kube.Get(ctx, e.ObjectKey, live); apierrors.IsNotFound(err) {
		return fmt.Errorf("%s is gone, and its owners did not delete it", e.thing)
	} else if err != nil {
		return err
	}
	if want, got := contentOf(e.object), contentOf(live); want != got {
		return fmt.Errorf("%s was changed:\n  its owners left %s\n  it is now       %s", e.thing, want, got)
	}
	return nil
}

// clusterWritten are the kinds that kube-controller-manager writes.
var clusterWritten = []string{"Deployment", "HorizontalPodAutoscaler"}

// contentOf is the whole object as JSON: a changed resourceVersion alone is a
// difference. Only in objects that kube-controller-manager writes, what it writes is
// left out: the status, the revision of a Deployment, and the resourceVersion and
// managed fields that follow from them.
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

func asUnstructured(object client.Object) (*unstructured.Unstructured, error) {
	t, err := thingOf(object)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{Object: content}
	out.SetGroupVersionKind(t.kind)
	return out, nil
}
