package release

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// TestADeletionWaitsForRoutesAndLeavesWhatIsOrphaned deletes Darkrooms whose objects have finalizers, or were orphaned.
func TestADeletionWaitsForRoutesAndLeavesWhatIsOrphaned(t *testing.T) {
	kinds := []schema.GroupVersionKind{ingressKind, routeKind, services, deployments}
	property.Check(t, func(t *rapid.T) {
		objects := cached{}
		waits := false
		for _, kind := range rapid.SliceOfDistinct(rapid.SampledFrom(kinds),
			rapid.ID[schema.GroupVersionKind]).Draw(t, "kinds") {
			hasFinalizer := rapid.Bool().Draw(t, "has a finalizer")
			objects[kind] = []metav1.Object{metadata("photos", func(o *metav1.ObjectMeta) {
				if hasFinalizer {
					o.Finalizers = []string{"example.com/balancer"}
				}
			})}
			waits = waits || hasFinalizer && (kind == ingressKind || kind == routeKind)
		}
		server := &stored{meanwhile: func(*stored) {}}
		fate := rapid.SampledFrom([]string{"gone", "owned", "not labeled", "left", "left"}).Draw(t, "the Deployment is")
		if fate != "gone" {
			server.object = &metav1.PartialObjectMetadata{ObjectMeta: ownedMeta("photos")}
		}
		switch fate {
		case "not labeled":
			delete(server.object.Labels, v1alpha1.LabelDarkroom)
			server.object.OwnerReferences = nil
		case "left":
			server.object.OwnerReferences = nil
		}
		c := clientWith(objects)
		c.Client, c.Uncached = server, server
		c.darkroom.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionTrue}}
		secrets := fake.NewSimpleClientset()
		owned, disowned := rapid.IntRange(0, 2).Draw(t, "revisions"), rapid.IntRange(0, 2).Draw(t, "revisions without an owner")
		for number := range owned + disowned {
			revision := &corev1.Secret{ObjectMeta: ownedMeta(fmt.Sprintf("sh.helm.release.v1.photos.v%d", number+1))}
			revision.Namespace = c.darkroom.Namespace
			maps.Copy(revision.Labels, map[string]string{
				"owner": "helm", "name": c.darkroom.Name, "version": strconv.Itoa(number + 1), v1alpha1.LabelDarkroomUID: string(c.darkroom.UID),
			})
			if number >= owned {
				revision.OwnerReferences = nil
			}
			if err := secrets.Tracker().Add(revision); err != nil {
				t.Fatal(err)
			}
		}
		c.revisions = storage.New(secrets.CoreV1(), secrets.AppsV1(), nil, nil, c.Clock).Of(c.darkroom, &storage.Memory{})
		event, message, err := c.uninstall()
		isLeft := fate == "left"
		isOrphaned := isLeft && owned == 0 && disowned > 0
		switch {
		case errors.Is(err, ErrLeaving) != waits || err != nil && !waits:
			t.Errorf("routes have finalizers: %t, got error %v", waits, err)
		case !waits && (event == EventOrphaned) != isOrphaned:
			t.Errorf("the Deployment is orphaned: %t, with %d owned and %d orphaned revisions: got event %q",
				isLeft, owned, disowned, event)
		case event == EventOrphaned && strings.HasPrefix(message, "All objects are kept") && len(objects) > 0:
			t.Errorf("%d objects were deleted: got event %q: %s", len(objects), event, message)
		case !waits && (event == EventUninstalled) != (owned+disowned > 0 && !isOrphaned),
			event == EventUninstalled && strings.Contains(message, "Deployment photos is kept") != isLeft:
			t.Errorf("the Deployment is orphaned: %t, with %d revisions: got event %q: %s",
				isLeft, owned+disowned, event, message)
		}
	})
}
