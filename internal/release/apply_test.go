package release

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// stored is an API server with at most one object. It checks preconditions.
type stored struct {
	client.Client

	object *metav1.PartialObjectMetadata
	// meanwhile is called before each deletion.
	meanwhile func(*stored)
	deleted   bool
	mu        sync.Mutex
}

var errMissing = apierrors.NewNotFound(schema.GroupResource{}, "photos")

func (s *stored) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if s.object == nil {
		return errMissing
	}
	s.object.DeepCopyInto(into.(*metav1.PartialObjectMetadata))
	return nil
}

func (s *stored) Delete(_ context.Context, _ client.Object, opts ...client.DeleteOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meanwhile(s)
	want := (&client.DeleteOptions{}).ApplyOptions(opts).Preconditions
	switch {
	case s.object == nil:
		return errMissing
	case *want.UID != s.object.UID, *want.ResourceVersion != s.object.ResourceVersion:
		return apierrors.NewConflict(schema.GroupResource{}, "photos", errors.New("the precondition failed"))
	}
	s.deleted = true
	return nil
}

// TestAnObjectIsDeletedWhileItIsTheDarkrooms changes an object before each attempt to delete it. An object that no
// longer belongs to the Darkroom must not be deleted.
func TestAnObjectIsDeletedWhileItIsTheDarkrooms(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		version := 5
		ours := &metav1.PartialObjectMetadata{ObjectMeta: ownedMeta("photos")}
		server := &stored{object: ours.DeepCopy()}
		changes := map[string]func(*metav1.PartialObjectMetadata){
			"nothing":                  nil,
			"another label":            func(o *metav1.PartialObjectMetadata) { o.Labels["team"] = "a" },
			"no owner":                 func(o *metav1.PartialObjectMetadata) { o.OwnerReferences = nil },
			"no label of the Darkroom": func(o *metav1.PartialObjectMetadata) { delete(o.Labels, v1alpha1.LabelDarkroom) },
			"another owner":            func(o *metav1.PartialObjectMetadata) { o.OwnerReferences[0].UID = "uid-2" },
			"recreated":                func(o *metav1.PartialObjectMetadata) { o.UID = types.UID("uid-of-another") },
			"gone":                     nil,
		}
		attempts := 0
		server.meanwhile = func(s *stored) {
			attempts++
			change := rapid.SampledFrom(slices.Sorted(maps.Keys(changes))).Draw(t, "change before the deletion")
			if s.object == nil || change == "nothing" {
				return
			}
			version++
			if s.object.ResourceVersion = strconv.Itoa(version); changes[change] != nil {
				changes[change](s.object)
			} else {
				s.object = nil
			}
		}
		c := clientWith(nil)
		c.Client, c.Uncached = server, server
		c.hasApplied(services, "photos")
		object := owned{Kind: services, Name: "photos", UID: ours.UID}
		if rapid.Bool().Draw(t, "the caches show the object") {
			object.live = ours
		}
		err := c.remove(object)
		isOurs := server.object != nil && server.object.UID == ours.UID && ownership.Owns(photos(), server.object)
		switch _, remembered := c.memory.objects.Trace(object.key()); {
		case server.deleted && !isOurs:
			t.Errorf("deleted the object %+v", server.object)
		case err == nil && (remembered || isOurs && !server.deleted):
			t.Errorf("deleted: %t, remembered: %t, belongs to the Darkroom: %t", server.deleted, remembered, isOurs)
		case err != nil && (!errors.Is(err, errContended) || attempts < applyAttempts):
			t.Errorf("after %d attempts: %v", attempts, err)
		}
	})
}

// A failed write does not cancel the other writes of its group, so the recorded writes reveal the groups.
func TestAnIngressThatExistsIsAppliedAfterItsServices(t *testing.T) {
	for name, test := range map[string]struct {
		cached cached
		want   []string
	}{
		"new":      {want: []string{"apply Ingress"}},
		"existing": {cached: cached{ingressKind: {metadata("photos", nil)}}},
	} {
		server, c := &refusing{kinds: []string{"Service"}}, clientWith(test.cached)
		c.Client = server
		err := c.apply([]*unstructured.Unstructured{objectOf(services), objectOf(ingressKind)})
		if !apierrors.IsForbidden(err) || !slices.Equal(server.writes, test.want) {
			t.Errorf("%s: got %q, want %q (%v)", name, server.writes, test.want, err)
		}
	}
}
