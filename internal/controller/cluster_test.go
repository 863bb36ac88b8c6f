package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
)

// The tests in this file remove kinds from the API server that all tests share. They are not parallel, so they do not
// run at the same time as parallel tests.

// httpRoutes is the name of the CustomResourceDefinition of HTTPRoutes.
const httpRoutes = "httproutes.gateway.networking.k8s.io"

// becomesServed waits until the API server serves the kind of a CustomResourceDefinition.
func becomesServed(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	untilServed(t, definition, true)
}

// untilServed waits until the API server serves the kind of a definition, or does not any more.
func untilServed(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition, want bool) {
	t.Helper()
	api := discoveryClient(t, cluster)
	eventually(t, definition.Name+" in the discovery", func(context.Context) error {
		list, err := api.ServerResourcesForGroupVersion(definition.Spec.Group + "/v1")
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		served := err == nil && slices.ContainsFunc(list.APIResources,
			func(r metav1.APIResource) bool { return r.Name == definition.Spec.Names.Plural })
		if served != want {
			return fmt.Errorf("the API server serves the kind: %t, want %t", served, want)
		}
		return nil
	})
}

func withDiscovery(period time.Duration) operatorOption {
	return func(s *settings) { s.DiscoveryPeriod = period }
}

func routed(namespace, name string) *v1alpha1.Darkroom {
	darkroom := webFolder(namespace, name)
	darkroom.Spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{{Name: "public"}}}
	return darkroom
}

// lacksKind expects the Darkroom to fail because the cluster lacks a kind.
func lacksKind(kind string) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		text := "the cluster has no " + kind
		if explains(v1alpha1.ConditionReleaseFailed, text)(status) == nil {
			return nil
		}
		return explains(v1alpha1.ConditionIrreconcilable, text)(status)
	}
}

// A running operator uses a kind that is installed later, and survives the removal of a kind.
//
//nolint:paralleltest // removes the kind
func TestAnOptionalKindIsUsedOnceItIsInstalled(t *testing.T) {
	definition := uninstall(t, httpRoutes)
	defer reinstall(t, definition)
	namespace := newNamespace(t)
	o := startOperator(t, namespace, withDiscovery(50*time.Millisecond))
	darkroom := routed(namespace, "photos")
	create(t, darkroom)
	eventuallyStatus(t, darkroom, "the kind is named", lacksKind("HTTPRoute"))

	reinstall(t, definition)
	eventually(t, "the release", installed(namespace, "photos"))
	accept(t, namespace, "photos", 1)
	eventuallyStatus(t, darkroom, "the host of the route", hasDomains(hostIn("photos")))

	route := mustGet(t, &gatewayv1.HTTPRoute{}, namespace, "photos")
	change(t, route, func(r *gatewayv1.HTTPRoute) { r.Spec.Hostnames = []gatewayv1.Hostname{"stolen.example.com"} })
	eventuallyIs(t, "the change is reverted", &gatewayv1.HTTPRoute{}, namespace, "photos",
		func(r *gatewayv1.HTTPRoute) bool { return r.Spec.Hostnames[0] != "stolen.example.com" })
	remove(t, route)
	eventuallyIs(t, "another route", &gatewayv1.HTTPRoute{}, namespace, "photos",
		func(r *gatewayv1.HTTPRoute) bool { return r.UID != route.UID })

	uninstall(t, httpRoutes)
	install(t, webFolder(namespace, "other")) // does not need the kind
	reinstall(t, definition)
	eventuallyThere(t, &gatewayv1.HTTPRoute{}, namespace, "photos")
	select {
	case err := <-o.ended:
		t.Fatalf("the operator stopped: %v", err)
	default:
	}
}

// uninstall deletes and returns a CustomResourceDefinition.
func uninstall(t *testing.T, name string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	definition := mustGet(t, &apiextensionsv1.CustomResourceDefinition{}, "", name)
	remove(t, definition)
	eventually(t, name+" is gone", absent(&apiextensionsv1.CustomResourceDefinition{}, "", name))
	untilServed(t, definition, false) // an operator that starts before would wait for the objects of the kind
	return definition
}

// reinstall creates a CustomResourceDefinition again unless it exists.
func reinstall(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	again := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: definition.Name, Annotations: definition.Annotations}, Spec: definition.Spec,
	}
	if err := kube.Create(context.Background(), again); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	becomesServed(t, definition)
}

// An aggregated API whose servers are down is neither served nor absent. This happens to openshift-apiserver while its
// certificates are rotated.
//
//nolint:paralleltest // the API server is shared
func TestAnAggregatedAPIThatIsDownIsNotTakenForAbsent(t *testing.T) {
	lookLikeOpenShift(t)
	breakAPI(t, "route.openshift.io")
	api := discoveryClient(t, cluster)
	eventually(t, "the API is down", func(context.Context) error {
		if _, err := api.ServerResourcesForGroupVersion("route.openshift.io/v1"); !apierrors.IsServiceUnavailable(err) {
			return fmt.Errorf("discovery: got %w", err)
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if found, err := controller.Discover(ctx, api); err == nil {
		t.Errorf("discovery succeeds although an aggregated API is down: %+v", found.Managed())
	}
}

// lookLikeOpenShift makes the API server serve the routes of OpenShift until the test ends.
func lookLikeOpenShift(t *testing.T) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "routes.route.openshift.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "route.openshift.io",
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: "Route", ListKind: "RouteList",
				Plural: "routes", Singular: "route",
			},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: ptr.To(true),
				}},
			}},
		},
	}
	create(t, definition)
	t.Cleanup(func() { _ = kube.Delete(context.Background(), definition) })
	becomesServed(t, definition)
}

// breakAPI routes an API group to a server that does not exist.
func breakAPI(t testing.TB, group string) {
	t.Helper()
	service := &unstructured.Unstructured{}
	service.SetAPIVersion("apiregistration.k8s.io/v1")
	service.SetKind("APIService")
	if err := kube.Get(t.Context(), client.ObjectKey{Name: "v1." + group}, service); err != nil {
		t.Fatal(err)
	}
	service.SetLabels(nil) // detach it from the API server's controller for local APIs
	spec, _ := service.Object["spec"].(map[string]any)
	spec["insecureSkipTLSVerify"] = true
	spec["service"] = map[string]any{"namespace": "default", "name": "openshift-apiserver", "port": int64(443)}
	if err := kube.Update(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(kube.Delete(context.Background(), service)); err != nil {
			t.Error(err)
		}
	})
}

// An API server silently drops status fields that an earlier definition lacks, including the claims of installations.
// It takes a moment to publish a changed definition.
func TestAnOlderDefinitionIsNamedAtTheStart(t *testing.T) {
	api := discoveryClient(t, cluster).RESTClient()
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "darkrooms.deployments.example.com"},
	}
	var current apiextensionsv1.JSONSchemaProps
	set := func(with bool) {
		change(t, definition, func(d *apiextensionsv1.CustomResourceDefinition) {
			status := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
			if with {
				status.Properties["installation"] = current
			} else {
				current = status.Properties["installation"]
				delete(status.Properties, "installation")
			}
			d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"] = status
		})
	}
	set(false)
	eventually(t, "the error", func(ctx context.Context) error {
		err := controller.CheckDefinition(ctx, api)
		if err == nil || !strings.Contains(err.Error(), "lacks status.installation: run `kubectl apply") {
			return fmt.Errorf("got error %w, want the missing field", err)
		}
		return nil
	})
	set(true)
	eventually(t, "no error", func(ctx context.Context) error { return controller.CheckDefinition(ctx, api) })
}
