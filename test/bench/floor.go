package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	operator "github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// floorCommand is the argument with which this program runs as the floor.
const floorCommand = "floor"

// floor only applies the objects and a status of a Darkroom. The objects are rendered once, with placeholders for the
// name and the URL of the Darkroom.
type floor struct {
	client.Client
	manifest string
}

const (
	floorName = "name-of-the-darkroom"
	floorURL  = "https://url-of-the-darkroom"
)

func runFloor(ctx context.Context, metricsAddress string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, -1
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme:  operator.NewScheme(),
		Metrics: metricsserver.Options{BindAddress: metricsAddress},
		Cache:   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
	})
	if err != nil {
		return err
	}
	manifest, err := floorManifest()
	if err != nil {
		return err
	}
	service := &metav1.PartialObjectMetadata{}
	service.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	err = ctrl.NewControllerManagedBy(mgr).Named(floorCommand).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		For(&v1alpha1.Darkroom{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(service, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Complete(&floor{Client: mgr.GetClient(), manifest: manifest})
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// floorManifest renders the chart for a Darkroom whose name and URL are replaced later.
func floorManifest() (string, error) {
	translator, err := values.New(values.Options{})
	if err != nil {
		return "", err
	}
	darkroom := darkrooms.New(floorName, "default").Obj()
	darkroom.Spec.Source.BaseURL = floorURL
	vals, err := translator.Values(darkroom)
	if err != nil {
		return "", err
	}
	chrt, err := loader.Load(chartFolder)
	if err != nil {
		return "", err
	}
	rendered, err := render.Render(chrt, types.NamespacedName{Namespace: "default", Name: floorName}, vals,
		render.Capabilities{Version: "v1.36.0"})
	if err != nil {
		return "", err
	}
	return blockedName.ReplaceAllString(rendered.Manifest, floorName+"-blocked"), nil
}

// blockedName is the name of the Service without endpoints. It contains a hash of the Darkroom's name, so it cannot be
// replaced by another name.
var blockedName = regexp.MustCompile(`name-of-the-dark[a-z-]*-blocked-[0-9a-f]+`)

// Reconcile implements reconcile.Reconciler.
func (f *floor) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	darkroom := &v1alpha1.Darkroom{}
	if err := f.Get(ctx, request.NamespacedName, darkroom); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	objects, err := f.objects(darkroom)
	if err != nil {
		return reconcile.Result{}, err
	}
	group, applyCtx := errgroup.WithContext(ctx)
	for _, object := range objects {
		group.Go(func() error {
			return f.Apply(applyCtx, client.ApplyConfigurationFromUnstructured(object),
				client.FieldOwner(floorCommand), client.ForceOwnership)
		})
	}
	if err := group.Wait(); err != nil {
		return reconcile.Result{}, err
	}
	status := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
		"observedGeneration": darkroom.Generation,
		"domains":            []any{darkroom.Spec.SubDomains[0] + "." + values.DefaultBaseDomain},
		"replicas":           int64(0), "readyReplicas": int64(0),
	}}}
	status.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	status.SetNamespace(darkroom.Namespace)
	status.SetName(darkroom.Name)
	return reconcile.Result{}, f.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(status),
		client.FieldOwner(floorCommand), client.ForceOwnership)
}

func (f *floor) objects(darkroom *v1alpha1.Darkroom) ([]*unstructured.Unstructured, error) {
	manifest := strings.NewReplacer(floorName, darkroom.Name, floorURL, darkroom.Spec.Source.BaseURL).Replace(f.manifest)
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := utilyaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return nil, fmt.Errorf("read %s: %w", document, err)
		}
		if len(object.Object) == 0 {
			continue
		}
		if !strings.Contains(object.GetName(), darkroom.Name) {
			return nil, fmt.Errorf("all Darkrooms would share the %s %s", object.GetKind(), object.GetName())
		}
		object.SetNamespace(darkroom.Namespace)
		object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(darkroom, v1alpha1.GroupVersionKind)})
		objects = append(objects, object)
	}
	return objects, nil
}
