package release

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

func TestOnlyObjectsThatTheDarkroomOwnsArePruned(t *testing.T) {
	c := clientWith(cached{
		services: {
			metadata("photos", nil),
			metadata("old", nil),
			metadata("copied", func(o *metav1.ObjectMeta) { o.OwnerReferences = nil }),
			metadata("of-the-predecessor", func(o *metav1.ObjectMeta) { o.OwnerReferences[0].UID = "uid-0" }),
			metadata("unlabelled", func(o *metav1.ObjectMeta) { o.Labels = nil }),
		},
		autoscalers: {metadata("photos", nil)},
		secretsKind: {metadata("sh.helm.release.v1.photos.v1", func(o *metav1.ObjectMeta) { o.Labels["owner"] = "helm" })},
	})
	// This object was applied in a new API version and deleted right afterwards. It must have the same key as before.
	next := autoscalers
	next.Version = "v3"
	got := ownedObjects(t, c, keyOf(services, "photos"), keyOf(next, "photos"))
	if !slices.Equal(got, []string{"Service old"}) {
		t.Errorf("got %q, want only Service old", got)
	}
}

func TestEachObjectIsPrunedOnce(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		shown := cached{}
		var applied, want []string
		var desired []manifest.Key
		for _, name := range []string{"a", "b", "c", "d"} {
			isShown, isApplied := rapid.Bool().Draw(rt, "shown"), rapid.Bool().Draw(rt, "applied")
			if isShown {
				shown[services] = append(shown[services], metadata(name, nil))
			}
			if isApplied {
				applied = append(applied, name)
			}
			if rapid.Bool().Draw(rt, "desired") {
				desired = append(desired, keyOf(services, name))
			} else if isShown || isApplied {
				want = append(want, "Service "+name)
			}
		}
		c := clientWith(shown)
		for _, name := range applied {
			c.hasApplied(services, name)
		}
		if got := ownedObjects(t, c, desired...); !slices.Equal(got, want) {
			rt.Errorf("got %q, want %q", got, want)
		}
	})
}

// An upgrade right after an install must find objects that the caches do not show yet.
func TestAppliedObjectsThatNoCacheShowsYetArePruned(t *testing.T) {
	c := clientWith(cached{})
	c.hasApplied(autoscalers, "photos")
	found, err := c.ownedExcept([]manifest.Key{keyOf(services, "photos")})
	if err != nil || len(found) != 1 || found[0].UID != "uid-of-photos" || found[0].Kind != autoscalers {
		t.Fatalf("got %+v (error: %v), want only the applied autoscaler", found, err)
	}
	c.memory.objects.Removed(found[0].key())
	if got := ownedObjects(t, c); len(got) > 0 {
		t.Errorf("after the deletion: got %q, want none", got)
	}
}

func deploymentOf(rolledOut bool, account string) *appsv1.Deployment {
	deployment := &appsv1.Deployment{
		ObjectMeta: ownedMeta("photos"),
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To(int32(1))},
	}
	deployment.Spec.Template.Spec.ServiceAccountName = account
	if rolledOut {
		deployment.Status = appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	}
	return deployment
}

func ingressOf(hosts ...string) *networkingv1.Ingress {
	ingress := &networkingv1.Ingress{ObjectMeta: ownedMeta("photos")}
	for _, host := range hosts {
		ingress.Spec.Rules = append(ingress.Spec.Rules, networkingv1.IngressRule{Host: host})
	}
	return ingress
}

func routeOf(accepted bool, hosts ...gatewayv1.Hostname) *gatewayv1.HTTPRoute {
	route := &gatewayv1.HTTPRoute{ObjectMeta: ownedMeta("photos"), Spec: gatewayv1.HTTPRouteSpec{Hostnames: hosts}}
	route.Generation = 2
	route.Spec.ParentRefs = []gatewayv1.ParentReference{{Name: "public"}}
	generation := int64(1) // the status describes the previous generation
	if accepted {
		generation = 2
	}
	says := func(conditionType gatewayv1.RouteConditionType) metav1.Condition {
		return metav1.Condition{Type: string(conditionType), Status: metav1.ConditionTrue, ObservedGeneration: generation}
	}
	route.Status.Parents = []gatewayv1.RouteParentStatus{{
		ParentRef:  gatewayv1.ParentReference{Name: "public"},
		Conditions: []metav1.Condition{says(gatewayv1.RouteConditionAccepted), says(gatewayv1.RouteConditionResolvedRefs)},
	}}
	return route
}

func TestNothingIsPrunedWithoutARendering(t *testing.T) {
	kind := appsv1.SchemeGroupVersion.WithKind("Deployment")
	c := clientWith(cached{kind: {&appsv1.Deployment{ObjectMeta: ownedMeta("photos")}}})
	if err := c.prune(); !errors.Is(err, errNotRendered) { // without a client, a delete would panic
		t.Errorf("got error %v, want %v", err, errNotRendered)
	}
}

func TestServingObjectsStayUntilTheirReplacementServes(t *testing.T) {
	// The Deployment is rolled out unless the cache contains another one.
	for name, test := range map[string]struct {
		cached          cached
		desired, object schema.GroupVersionKind
		needed          bool
	}{
		"a ConfigMap during the rollout": {
			cached{deployments: {deploymentOf(false, "")}, configMaps: {metadata("photos", nil)}}, services, configMaps, true,
		},
		"a ConfigMap after it": {
			cached{configMaps: {metadata("photos", nil)}},
			services, configMaps, false,
		},
		"an autoscaler during the rollout": {cached{
			deployments: {deploymentOf(false, "")},
			autoscalers: {metadata("photos", nil)},
		}, services, autoscalers, false},
		"a ServiceAccount during the rollout": {
			cached{deployments: {deploymentOf(false, "team")}, accounts: {metadata("photos", nil)}}, services, accounts, true,
		},
		"a ServiceAccount after it": {
			cached{deployments: {deploymentOf(true, "team")}, accounts: {metadata("photos", nil)}}, services, accounts, false,
		},
		"the ServiceAccount that the pods have": {
			cached{deployments: {deploymentOf(true, "photos")}, accounts: {metadata("photos", nil)}}, services, accounts, true,
		},
		"an Ingress without a successor":       {cached{ingressKind: {ingressOf("a")}}, services, ingressKind, false},
		"an Ingress before its route is known": {cached{ingressKind: {ingressOf("a")}}, routeKind, ingressKind, true},
		"an Ingress before its route is accepted": {
			cached{ingressKind: {ingressOf("a")}, routeKind: {routeOf(false, "a")}}, routeKind, ingressKind, true,
		},
		"an Ingress after that": {
			cached{ingressKind: {ingressOf("a")}, routeKind: {routeOf(true, "a", "b")}}, routeKind, ingressKind, false,
		},
		"an Ingress with a host that the route lacks": {
			cached{ingressKind: {ingressOf("a", "lost")}, routeKind: {routeOf(false, "a")}}, routeKind, ingressKind, true,
		},
		"an Ingress without a host of the route": {
			cached{ingressKind: {ingressOf("lost")}, routeKind: {routeOf(false, "a")}},
			routeKind, ingressKind, false,
		},
		"a route that an Ingress replaces": {
			cached{ingressKind: {ingressOf("a")}, routeKind: {routeOf(true, "a")}},
			ingressKind, routeKind, false,
		},
		"the Service of an Ingress that stays": {
			cached{ingressKind: {ingressOf("a")}, services: {metadata("photos", nil)}},
			routeKind, services, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.cached[deployments] == nil {
				test.cached[deployments] = []metav1.Object{deploymentOf(true, "")}
			}
			c := clientWith(test.cached)
			desired := []manifest.Key{keyOf(test.desired, "photos"), keyOf(deployments, "photos")}
			unused, err := c.ownedExcept(desired)
			if err != nil {
				t.Fatal(err)
			}
			needed, err := c.neededStill(desired, unused)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(unused, func(o owned) bool { return o.Kind == test.object })
			if at < 0 {
				t.Fatalf("the object is not among those that are not desired: %v", unused)
			}
			if got := needed(unused[at]); got != test.needed {
				t.Errorf("needed: got %t, want %t", got, test.needed)
			}
		})
	}
}

// Users can create any number of objects with finalizers that belong to a Darkroom. Each object must be deleted only
// once, and not in every reconcile.
func TestAnObjectThatIsBeingDeletedIsNotDeletedAgain(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		objects, want := cached{}, 0
		for i, isLeaving := range rapid.SliceOf(rapid.Bool()).Draw(t, "which are being deleted") {
			objects[autoscalers] = append(objects[autoscalers],
				metadata(fmt.Sprintf("photos-%d", i), func(o *metav1.ObjectMeta) {
					if isLeaving {
						o.DeletionTimestamp, o.Finalizers = &metav1.Time{}, []string{"example.com/tenant"}
					} else {
						want++
					}
				}))
		}
		deletions := 0
		c := clientWith(objects)
		c.Client = &stored{meanwhile: func(*stored) { deletions++ }}
		desired := &unstructured.Unstructured{}
		desired.SetGroupVersionKind(services)
		desired.SetName("photos")
		c.memory.objects.Desire([]*unstructured.Unstructured{desired})
		if err := c.prune(); err != nil || deletions != want {
			t.Errorf("got %d deletions of %d objects (%v), want %d", deletions, len(objects[autoscalers]), err, want)
		}
	})
}

// A cached Deployment from before the last apply does not show whether the apply was rolled out.
func TestALaggingCacheDoesNotEndARollout(t *testing.T) {
	c := clientWith(cached{deployments: {deploymentOf(true, "")}})
	c.hasApplied(deployments, "photos")
	done, err := c.rolledOut()
	if err != nil || done {
		t.Errorf("rolled out: got %t, want false (%v)", done, err)
	}
}
