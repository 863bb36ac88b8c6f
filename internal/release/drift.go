package release

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"sync"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// annotationRevision is written to each Deployment by its controller.
const annotationRevision = "deployment.kubernetes.io/revision"

// drift remembers, for each object of each release, what was applied and how the
// object looked right after. While both stand, the object is as it should be and
// needs no request. The memory is lost with the process; then every object is
// applied once, which changes nothing where nothing differs.
type drift struct {
	mu       sync.Mutex
	applied  map[types.NamespacedName]map[objectKey]trace
	verifyAt map[types.NamespacedName]time.Time
}

type digest [sha256.Size]byte

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
	return &drift{
		applied:  map[types.NamespacedName]map[objectKey]trace{},
		verifyAt: map[types.NamespacedName]time.Time{},
	}
}

// record remembers that wanted was applied and came back as live.
func (d *drift) record(release types.NamespacedName, wanted *unstructured.Unstructured, live metav1.Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	traces := d.applied[release]
	if traces == nil {
		traces = map[objectKey]trace{}
		d.applied[release] = traces
	}
	traces[keyOf(wanted)] = trace{
		wanted:          digestOf(wanted),
		uid:             live.GetUID(),
		state:           stateOf(live),
		resourceVersion: live.GetResourceVersion(),
	}
}

// forget drops what is remembered of a release.
func (d *drift) forget(release types.NamespacedName) {
	d.mu.Lock()
	delete(d.applied, release)
	delete(d.verifyAt, release)
	d.mu.Unlock()
}

// unchanged tells whether live, an object from a cache, is known to be as wanted.
// A cache that has not yet seen the last write counts as unchanged: it will tell.
func (d *drift) unchanged(release types.NamespacedName, wanted *unstructured.Unstructured, live metav1.Object) bool {
	d.mu.Lock()
	trace, found := d.applied[release][keyOf(wanted)]
	d.mu.Unlock()
	if !found || trace.uid != live.GetUID() || trace.wanted != digestOf(wanted) {
		return false
	}
	if order, err := resourceversion.CompareResourceVersion(live.GetResourceVersion(), trace.resourceVersion); err == nil && order <= 0 {
		return true
	}
	return trace.state == stateOf(live)
}

// stateOf digests what only a change of the specification alters: where the
// object has a generation, that and its metadata, so that changes of the status
// do not count; else its resourceVersion.
func stateOf(object metav1.Object) digest {
	state := struct {
		Generation      int64
		ResourceVersion string
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
	if state.Generation == 0 {
		state.ResourceVersion = object.GetResourceVersion()
	}
	return digestOf(state)
}

// digestOf is the SHA-256 of a value's JSON, whose keys are sorted.
func digestOf(value any) digest {
	raw, err := json.Marshal(value)
	if err != nil {
		// Objects and metadata were decoded from JSON, so they encode to it.
		panic(err)
	}
	return sha256.Sum256(raw)
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
