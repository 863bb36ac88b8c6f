package main

import (
	"context"
	"time"

	"github.com/operator-framework/helm-operator-plugins/pkg/reconciler"
	hopvalues "github.com/operator-framework/helm-operator-plugins/pkg/values"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

const (
	// contenderCommand is the argument that makes this program run as the contender.
	contenderCommand = "helm-operator-plugins"
	// contenderController is the name of its controller.
	contenderController = "darkroom-controller"
)

// runContender runs a plain operator of helm-operator-plugins with the same chart and values.
// Everything else is the default of the library, except the number of workers, the resync
// period, and the client-side rate limit, which is off.
func runContender(ctx context.Context, metricsAddress string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, -1
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: metricsAddress},
	})
	if err != nil {
		return err
	}
	chrt, err := loader.Load(chartFolder)
	if err != nil {
		return err
	}
	translator, err := values.New(values.Options{})
	if err != nil {
		return err
	}
	translate := func(_ context.Context, resource *unstructured.Unstructured) (chartutil.Values, error) {
		darkroom := &v1alpha1.Darkroom{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(resource.Object, darkroom); err != nil {
			return nil, err
		}
		return translator.Values(darkroom)
	}
	contender, err := reconciler.New(
		reconciler.WithGroupVersionKind(v1alpha1.GroupVersionKind),
		reconciler.WithChart(*chrt),
		reconciler.WithValueTranslator(hopvalues.TranslatorFunc(translate)),
		reconciler.WithMaxConcurrentReconciles(4),
		// With fifty Darkrooms, a resync every few seconds would use both cores.
		reconciler.WithReconcilePeriod(time.Hour),
	)
	if err != nil {
		return err
	}
	if err := contender.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
