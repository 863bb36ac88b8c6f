package release

import (
	"maps"
	"slices"
	"sync"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// annotationRevision is written to each Deployment by its controller.
const annotationRevision = "deployment.kubernetes.io/revision"

// drift remembers, for each object of each release, what was applied and how the
// object looked right after. While both stand, the object is as it should be and
// needs no request. The memory outlives the process as a record beside the release;
// where there is none, every object is applied once, which changes nothing where
// nothing differs.
type drift struct {
	mu       sync.Mutex
	releases map[types.NamespacedName]*memory
}

// memory is what is remembered of one release.
type memory struct {
	traces map[objectKey]trace
	// settled is the identity of the manifest whose objects were all found or made as
	// they should be, and objects are their names.
	settled string
	objects []objectKey
	// tidy is set when nothing is left of earlier revisions.
	tidy bool
	// verifyAt is when all this is to be forgotten.
	verifyAt time.Time
}

// trace is what is remembered of one object.
type trace struct {
	// wanted is the digest of the object as it was applied.
	wanted digest
	// uid, state and resourceVersion are of the object as it came back.
	uid             types.UID
	state           digest
	resourceVersion string
}

func newDrift() *drift {
	return &drift{releases: map[types.NamespacedName]*memory{}}
}

// applied remembers that wanted was applied and came back as live.
func (d *drift) applied(release types.NamespacedName, wanted *unstructured.Unstructured, live metav1.Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.of(release)
	// What was written may be of another manifest than the settled one.
	known.objects = nil
	known.traces[keyOf(wanted)] = trace{
		wanted:          digestOf(wanted),
		uid:             live.GetUID(),
		state:           stateOf(live),
		resourceVersion: live.GetResourceVersion(),
	}
}

// of returns what is remembered of a release. The caller holds the lock.
func (d *drift) of(release types.NamespacedName) *memory {
	known := d.releases[release]
	if known == nil {
		known = &memory{traces: map[objectKey]trace{}}
		d.releases[release] = known
	}
	return known
}

// settle remembers that all objects of the manifest with an identity are as they
// should be, and returns their names.
func (d *drift) settle(release types.NamespacedName, manifest string, objects []*unstructured.Unstructured) []objectKey {
	keys := make([]objectKey, len(objects))
	for i, object := range objects {
		keys[i] = keyOf(object)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.of(release)
	known.settled, known.objects, known.tidy = manifest, keys, false
	maps.DeleteFunc(known.traces, func(key objectKey, _ trace) bool { return !slices.Contains(keys, key) })
	return keys
}

// settledObjects returns the objects of the manifest with an identity if it was
// settled, so that they can be judged without having it.
func (d *drift) settledObjects(release types.NamespacedName, manifest string) ([]objectKey, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.releases[release]
	if known == nil || len(known.objects) == 0 || known.settled != manifest {
		return nil, false
	}
	return known.objects, true
}

// tidy remembers that nothing is left of the revisions before the settled one.
func (d *drift) tidy(release types.NamespacedName) {
	d.mu.Lock()
	d.of(release).tidy = true
	d.mu.Unlock()
}

func (d *drift) isTidy(release types.NamespacedName) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of(release).tidy
}

// forget drops what is remembered of a release.
func (d *drift) forget(release types.NamespacedName) {
	d.mu.Lock()
	delete(d.releases, release)
	d.mu.Unlock()
}

// unchanged tells whether live, an object from a cache, is known to be as wanted.
func (d *drift) unchanged(release types.NamespacedName, wanted *unstructured.Unstructured, live metav1.Object) bool {
	trace, found := d.trace(release, keyOf(wanted))
	return found && trace.wanted == digestOf(wanted) && trace.fits(live)
}

func (d *drift) trace(release types.NamespacedName, object objectKey) (trace, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.releases[release]
	if known == nil {
		return trace{}, false
	}
	found, ok := known.traces[object]
	return found, ok
}

// fits tells whether an object from a cache is as it was after it was applied. A
// cache that has not yet seen that write counts as unchanged: it will tell.
func (trace trace) fits(live metav1.Object) bool {
	if trace.uid != live.GetUID() {
		return false
	}
	if order, err := resourceversion.CompareResourceVersion(live.GetResourceVersion(), trace.resourceVersion); err == nil && order <= 0 {
		return true
	}
	return trace.state == stateOf(live)
}

// stateOf digests what only a change of the specification alters: where the
// object has a generation, that and its metadata, so that changes of the status
// do not count; else its resourceVersion, or for kinds with a status who wrote what.
func stateOf(object metav1.Object) digest {
	state := struct {
		Generation      int64
		ResourceVersion string
		Writers         []metav1.ManagedFieldsEntry
		Labels          map[string]string
		Annotations     map[string]string
		Owners          []metav1.OwnerReference
		Deleting        bool
	}{
		Generation: object.GetGeneration(),
		Labels:     object.GetLabels(),
		Owners:     object.GetOwnerReferences(),
		Deleting:   object.GetDeletionTimestamp() != nil,
	}
	state.Annotations = maps.Clone(object.GetAnnotations())
	delete(state.Annotations, annotationRevision)
	switch {
	case state.Generation != 0:
	case HasStatusWithoutGeneration(object):
		state.Writers = SpecificationWriters(object)
	default:
		state.ResourceVersion = object.GetResourceVersion()
	}
	return digestOf(state)
}

// HasStatusWithoutGeneration tells of which kinds neither generation nor
// resourceVersion says whether the specification was changed: autoscalers (without a
// generation in Kubernetes 1.36), whose status is written several times a minute.
func HasStatusWithoutGeneration(object metav1.Object) bool {
	typed, ok := object.(runtime.Object)
	return ok && typed.GetObjectKind().GroupVersionKind().GroupKind() == autoscalers
}

var autoscalers = autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler").GroupKind()

// SpecificationWriters are an object's managed fields without those of its status. Each
// change of a field changes its writer's time, or takes the field from another writer.
func SpecificationWriters(object metav1.Object) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(slices.Clone(object.GetManagedFields()), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource != ""
	})
}

// Touched tells whether an object was changed in more than its status, or a
// revision by somebody else than the operator.
func Touched(before, after metav1.Object) bool {
	if isRevision(after) {
		return WrittenByHand(after)
	}
	return before.GetUID() != after.GetUID() || stateOf(before) != stateOf(after)
}

// WrittenByHand tells whether an object is the Secret of a revision that somebody
// else wrote than the operator.
func WrittenByHand(object metav1.Object) bool {
	return isRevision(object) && object.GetAnnotations()[annotationOperator] == ""
}

// Missed tells whether the deletion of an object matters: that of an old or failed
// revision does not, since the operator deletes those itself.
func Missed(object metav1.Object) bool {
	status := helmrelease.Status(object.GetLabels()[labelStatus])
	return !isRevision(object) || status != helmrelease.StatusSuperseded && status != helmrelease.StatusFailed
}

func isRevision(object metav1.Object) bool {
	return object.GetLabels()[labelOwner] == ownerHelm
}
