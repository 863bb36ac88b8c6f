package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
)

// The tests of this file take kinds away from the API server that all tests share. They
// are not parallel, so those that are have not begun or wait.

var (
	routeKind   = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}
	monitorKind = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}
)

// routeDefinition is the CustomResourceDefinition of HTTPRoutes.
func routeDefinition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	found := &apiextensionsv1.CustomResourceDefinition{}
	if err := definitions(t).Get(t.Context(), client.ObjectKey{Name: "httproutes." + routeKind.Group}, found); err != nil {
		t.Fatal(err)
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: found.Name, Annotations: found.Annotations}, Spec: found.Spec,
	}
}

// monitorDefinition is a CustomResourceDefinition of ServiceMonitors that admits anything.
func monitorDefinition() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "servicemonitors." + monitorKind.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: monitorKind.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: monitorKind.Kind, ListKind: monitorKind.Kind + "List", Plural: "servicemonitors", Singular: "servicemonitor"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: monitorKind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: ptr.To(true),
				}},
			}},
		},
	}
}

// definitions reads and writes CustomResourceDefinitions.
func definitions(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	writer, err := client.New(cluster, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return writer
}

// install makes the API server serve a kind.
func install(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	fresh := []*apiextensionsv1.CustomResourceDefinition{definition.DeepCopy()}
	if _, err := envtest.InstallCRDs(cluster, envtest.CRDInstallOptions{CRDs: fresh}); err != nil {
		t.Fatal(err)
	}
}

// uninstall makes the API server no longer serve a kind, and waits until it does not.
func uninstall(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	if err := definitions(t).Delete(context.Background(), definition.DeepCopy()); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	asked, err := discovery.NewDiscoveryClientForConfig(cluster)
	if err != nil {
		t.Fatal(err)
	}
	version := definition.Spec.Group + "/" + definition.Spec.Versions[0].Name
	eventually(t, "the kind is gone", func(context.Context) error {
		list, err := asked.ServerResourcesForGroupVersion(version)
		if err == nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == definition.Spec.Names.Plural }) {
			return fmt.Errorf("%s has %s", version, definition.Spec.Names.Plural)
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// withoutRoutes takes HTTPRoutes away until the test ends.
func withoutRoutes(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	definition := routeDefinition(t)
	uninstall(t, definition)
	t.Cleanup(func() { install(t, definition) })
	return definition
}

func withDiscovery(period time.Duration) operatorOption {
	return func(o *controller.Options, _ *rest.Config) { o.DiscoveryPeriod = period }
}

// isCached returns an error unless an operator caches objects of a kind, or caches none.
func isCached(o *operator, list client.ObjectList, want bool) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		err := o.manager.GetCache().List(ctx, list)
		var missing *cache.ErrResourceNotCached
		if got := err == nil; got != want || !got && !errors.As(err, &missing) {
			return fmt.Errorf("read from the cache: %w", err)
		}
		return nil
	}
}

func monitors() client.ObjectList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(monitorKind.GroupVersion().WithKind(monitorKind.Kind + "List"))
	return list
}

func routed(namespace, name string) *v1alpha1.Darkroom {
	darkroom := webFolder(namespace, name)
	darkroom.Spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{{Name: "public"}}}
	return darkroom
}

func monitored(namespace, name string) *v1alpha1.Darkroom {
	darkroom := webFolder(namespace, name)
	darkroom.Spec.Metrics = &v1alpha1.Metrics{Enabled: true, ServiceMonitor: true}
	return darkroom
}

// lacks returns an error unless a Darkroom fails because the cluster lacks a kind.
func lacks(kind string) func(v1alpha1.DarkroomStatus) error {
	return func(status v1alpha1.DarkroomStatus) error {
		failed := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionReleaseFailed)
		repair := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionIrreconcilable)
		for _, found := range []*v1alpha1.Condition{failed, repair} {
			if found != nil && strings.Contains(found.Message, "the cluster has no "+kind) {
				return nil
			}
		}
		return fmt.Errorf("conditions are %+v", status.Conditions)
	}
}

// comesBack waits for an object of a Darkroom, deletes it, and waits until there is another.
func comesBack(t *testing.T, kind schema.GroupVersionKind, namespace, name string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	eventually(t, "a "+kind.Kind, func(ctx context.Context) (err error) {
		object, err = get(ctx, object, namespace, name)
		return err
	})
	if err := kube.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another "+kind.Kind, func(ctx context.Context) error {
		now := &unstructured.Unstructured{}
		now.SetGroupVersionKind(kind)
		now, err := get(ctx, now, namespace, name)
		if err == nil && now.GetUID() == object.GetUID() {
			err = fmt.Errorf("it is the same")
		}
		return err
	})
}

//nolint:paralleltest // takes kinds away
func TestAKindIsFollowedAsItComesAndGoes(t *testing.T) {
	for name, c := range map[string]struct {
		definition *apiextensionsv1.CustomResourceDefinition
		kind       schema.GroupVersionKind
		darkroom   func(namespace, name string) *v1alpha1.Darkroom
		list       client.ObjectList
		restore    bool
	}{
		"HTTPRoute":      {routeDefinition(t), routeKind, routed, &gatewayv1.HTTPRouteList{}, true},
		"ServiceMonitor": {monitorDefinition(), monitorKind, monitored, monitors(), false},
	} {
		t.Run(name, func(t *testing.T) {
			uninstall(t, c.definition)
			t.Cleanup(func() {
				if c.restore {
					install(t, c.definition)
					return
				}
				uninstall(t, c.definition)
			})
			namespace := newNamespace(t)
			o := startOperator(t, namespace, withDiscovery(100*time.Millisecond))
			darkroom := c.darkroom(namespace, "photos")
			create(t, darkroom)
			eventuallyStatus(t, darkroom, "the kind is named", lacks(name))
			if err := isCached(o, c.list, false)(t.Context()); err != nil {
				t.Errorf("a kind that is not served: %v", err)
			}

			for range 2 {
				install(t, c.definition)
				eventually(t, "the release", installed(namespace, "photos"))
				comesBack(t, c.kind, namespace, "photos")
				if c.kind == routeKind {
					accept(t, namespace, "photos", 1)
					eventuallyStatus(t, darkroom, "the host of the route", func(status v1alpha1.DarkroomStatus) error {
						if !slices.Equal(status.Domains, []string{hostIn("photos")}) {
							return fmt.Errorf("domains are %v", status.Domains)
						}
						return nil
					})
				}

				uninstall(t, c.definition)
				eventuallyStatus(t, darkroom, "the kind is named again", lacks(name))
				eventuallyStatus(t, darkroom, "nothing is routed", func(status v1alpha1.DarkroomStatus) error {
					if c.kind == routeKind && len(status.Domains) > 0 {
						return fmt.Errorf("domains are %v", status.Domains)
					}
					return nil
				})
				eventually(t, "it is cached no more", isCached(o, c.list, false))
			}

			// Darkrooms that do not need the kind are handled as ever.
			other := webFolder(namespace, "other")
			create(t, other)
			eventually(t, "the release", installed(namespace, "other"))
			if c.kind == routeKind {
				change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Gateway = nil })
			} else {
				change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Metrics = nil })
			}
			eventually(t, "the release without the kind", installed(namespace, "photos"))
		})
	}
}

// A manager that stands by is ready to take over the kinds of today.
//
//nolint:paralleltest // takes kinds away
func TestAManagerThatStandsByFollowsKinds(t *testing.T) {
	definition := withoutRoutes(t)
	namespace := newNamespace(t)
	election := func(o *manager.Options) {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, "darkroom", namespace
		o.LeaderElectionReleaseOnCancel = true
		o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = ptr.To(15*time.Second), ptr.To(10*time.Second), ptr.To(200*time.Millisecond)
	}
	leads := startManager(t, []string{namespace}, labels.Everything(), election, withDiscovery(100*time.Millisecond))
	darkroom := routed(namespace, "photos")
	create(t, darkroom)
	eventuallyStatus(t, darkroom, "the kind is named", lacks("HTTPRoute"))
	standby := startManager(t, []string{namespace}, labels.Everything(), election, withDiscovery(100*time.Millisecond))

	install(t, definition)
	eventually(t, "the one that stands by caches the kind", isCached(standby, &gatewayv1.HTTPRouteList{}, true))
	eventually(t, "the release", installed(namespace, "photos"))
	leads.kill()
	// The first may come back because the new leader reconciles all Darkrooms, the second
	// only because it watches the kind.
	for range 2 {
		comesBack(t, routeKind, namespace, "photos")
	}
}
