package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// The tests of this file take kinds away from the API server that all tests share. They
// are not parallel, so those that are have not begun or wait.

// httpRoutes and openshiftRoutes name CustomResourceDefinitions.
const (
	httpRoutes      = "httproutes.gateway.networking.k8s.io"
	openshiftRoutes = "routes.route.openshift.io"
)

// serve makes the API server serve a kind or not, and waits until it does.
func serve(t *testing.T, name string, served bool) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
	change(t, definition, func(d *apiextensionsv1.CustomResourceDefinition) {
		for i := range d.Spec.Versions {
			d.Spec.Versions[i].Served = served
		}
	})
	api := discoveryClient(t, cluster)
	eventually(t, fmt.Sprintf("%s served: %t", name, served), func(context.Context) error {
		list, err := api.ServerResourcesForGroupVersion(definition.Spec.Group + "/v1")
		found := err == nil && slices.ContainsFunc(list.APIResources,
			func(r metav1.APIResource) bool { return r.Name == definition.Spec.Names.Plural })
		if found != served || !served && err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("served: %t (%w)", found, err)
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

// lacksKind expects a failure because the cluster lacks a kind.
func lacksKind(kind string) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		text := "the cluster has no " + kind
		if explains(v1alpha1.ConditionReleaseFailed, text)(status) == nil {
			return nil
		}
		return explains(v1alpha1.ConditionIrreconcilable, text)(status)
	}
}

// An optional kind is used by the process that starts when the cluster serves it. It ends by
// itself when the kind comes or goes.
//
//nolint:paralleltest // takes the kind away
func TestAnOperatorEndsWhenAKindComesOrGoes(t *testing.T) {
	serve(t, httpRoutes, false)
	defer serve(t, httpRoutes, true)
	namespace := newNamespace(t)
	o := startOperator(t, namespace, withDiscovery(50*time.Millisecond))
	darkroom := routed(namespace, "photos")
	create(t, darkroom)
	eventuallyStatus(t, darkroom, "the kind is named", lacksKind("HTTPRoute"))

	serve(t, httpRoutes, true)
	o.endsByItself()
	o = startOperator(t, namespace, withDiscovery(50*time.Millisecond))
	eventually(t, "the release", installed(namespace, "photos"))
	accept(t, namespace, "photos", 1)
	eventuallyStatus(t, darkroom, "the host of the route", hasDomains(hostIn("photos")))

	serve(t, httpRoutes, false)
	o.endsByItself()
	startOperator(t, namespace)
	eventuallyStatus(t, darkroom, "the kind is named again, and nothing is routed", lacksKind("HTTPRoute"), hasDomains())
	install(t, webFolder(namespace, "other")) // does not need the kind
}

// endsByItself waits until the operator has ended because the cluster has changed.
func (o *operator) endsByItself() {
	o.t.Helper()
	select {
	case err := <-o.ended:
		if !errors.Is(err, controller.ErrClusterChanged) {
			o.t.Fatalf("the operator ended with %v", err)
		}
		o.ended <- nil
	case <-time.After(wait.Patience):
		o.t.Fatal("the operator did not end")
	}
}

// An aggregated API of which no server is reachable answers neither yes nor no, as
// openshift-apiserver does while its certificates are rotated.
//
//nolint:paralleltest // the API server is shared
func TestAnAggregatedAPIThatIsDownIsNotTakenForAbsent(t *testing.T) {
	namespace := newNamespace(t)
	lookLikeOpenShift(t)
	o := startOperator(t, namespace, withDiscovery(50*time.Millisecond))
	install(t, webFolder(namespace, "photos"))
	before := mustGet(t, &networkingv1.Ingress{}, namespace, "photos")
	if !strings.Contains(encoded(before.Spec), `"path":"/metrics","pathType":"Prefix"`) {
		t.Fatalf("/metrics is not kept from the public in OpenShift's way: %+v", before.Spec)
	}

	service := breakAPI(t, "route.openshift.io")
	api := discoveryClient(t, cluster)
	eventually(t, "the API is down", func(context.Context) error {
		if _, err := api.ServerResourcesForGroupVersion("route.openshift.io/v1"); !apierrors.IsServiceUnavailable(err) {
			return fmt.Errorf("the answer is %w", err)
		}
		return nil
	})
	asked := len(o.requests())
	eventually(t, "the operator has asked several times", func(context.Context) error {
		if now := len(o.requests()); now < asked+50 {
			return fmt.Errorf("%d requests", now-asked)
		}
		return nil
	})
	select {
	case err := <-o.ended:
		t.Fatalf("the operator took the API for gone: %v", err)
	default:
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if found, err := controller.Discover(ctx, api); err == nil {
		t.Errorf("an operator that starts now takes the API for gone: %+v", found)
	}
	upgrade(t, webFolder(namespace, "photos"), func(d *v1alpha1.Darkroom) { d.Spec.CacheTTLSeconds = ptr.To[int64](60) })
	if after := mustGet(t, &networkingv1.Ingress{}, namespace, "photos"); after.Generation != before.Generation {
		t.Errorf("the Ingress was changed: %+v", after.Spec)
	}

	// The API server registers the definition again.
	remove(t, service)
	serve(t, openshiftRoutes, false)
	o.endsByItself()
}

// lookLikeOpenShift makes the API server serve the routes of OpenShift until the test ends.
func lookLikeOpenShift(t *testing.T) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: openshiftRoutes},
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
	serve(t, openshiftRoutes, true)
}

// breakAPI makes an API of the API server one of another server, which does not exist.
func breakAPI(t testing.TB, group string) *unstructured.Unstructured {
	t.Helper()
	service := &unstructured.Unstructured{}
	service.SetAPIVersion("apiregistration.k8s.io/v1")
	service.SetKind("APIService")
	if err := kube.Get(t.Context(), client.ObjectKey{Name: "v1." + group}, service); err != nil {
		t.Fatal(err)
	}
	service.SetLabels(nil) // it is no longer managed by the API server
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
	return service
}

// An API server drops fields of the status that an earlier definition lacks, the claims of
// installations among them, and says so to nobody. It publishes a definition after a moment.
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
			return fmt.Errorf("the error is %w", err)
		}
		return nil
	})
	set(true)
	eventually(t, "no error", func(ctx context.Context) error { return controller.CheckDefinition(ctx, api) })
}
