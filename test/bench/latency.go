package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// latencies makes changes one at a time and returns the medians of the latencies.
func (r *round) latencies(ctx context.Context) error {
	var creates, changes, repairs []float64
	for i := range r.trials {
		name := fmt.Sprintf("single-%d", i)
		took, err := r.install(ctx, name)
		if err != nil {
			return err
		}
		creates = append(creates, took)
		if err := sleep(ctx, pause); err != nil {
			return err
		}

		url := "https://changed.example.com/" + name
		took, err = r.appears(ctx, func() error { return r.changeURL(ctx, name, url) }, &corev1.ConfigMapList{},
			func(object client.Object) bool {
				configMap, ok := object.(*corev1.ConfigMap)
				return ok && configMap.Data["SOURCE_BASEURL"] == url
			})
		if err != nil {
			return err
		}
		changes = append(changes, took)
		if err := sleep(ctx, pause); err != nil {
			return err
		}

		service := &corev1.Service{}
		if err := r.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, service); err != nil {
			return err
		}
		deleted := service.UID
		took, err = r.appears(ctx, func() error { return r.kube.Delete(ctx, service) }, &corev1.ServiceList{},
			func(object client.Object) bool { return object.GetName() == name && object.GetUID() != deleted })
		if err != nil {
			return err
		}
		repairs = append(repairs, took)
	}
	for name, values := range map[string][]float64{
		createToIngress: creates,
		changeToConfig:  changes, serviceBack: repairs,
	} {
		slices.Sort(values)
		r.figures[name] = values[len(values)/2]
	}
	return nil
}

// errNotShown is returned when the effect of a change is not visible in time.
var errNotShown = errors.New("not visible in time")

// install creates a Darkroom and returns the milliseconds until its Ingress exists.
func (r *round) install(ctx context.Context, name string) (float64, error) {
	return r.appears(ctx, func() error { return r.kube.Create(ctx, darkrooms.New(name, namespace).Obj()) },
		&networkingv1.IngressList{},
		func(object client.Object) bool { return object.GetName() == name })
}

// appears performs an action and returns the milliseconds until an object is in its desired state, with a timeout of a
// minute.
func (r *round) appears(
	ctx context.Context, act func() error, kind client.ObjectList, desired func(client.Object) bool,
) (float64, error) {
	took, err := r.appearsWithin(ctx, time.Minute, act, kind, desired)
	return float64(took.Microseconds()) / 1000, err
}

// appearsWithin is like appears, with a limit. It watches, because polling would slow down the measured program.
func (r *round) appearsWithin(ctx context.Context, limit time.Duration, act func() error, kind client.ObjectList,
	desired func(client.Object) bool,
) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// Without a resource version, the watch would start with all existing objects.
	if err := r.kube.List(ctx, kind, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return 0, err
	}
	// The API server may end a watch at any time.
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, kind.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return r.kube.Watch(ctx, kind, client.InNamespace(namespace), &client.ListOptions{Raw: &options})
		},
	})
	if err != nil {
		return 0, err
	}
	defer watcher.Stop()
	if err := act(); err != nil {
		return 0, err
	}
	start := time.Now()
	for event := range watcher.ResultChan() {
		object, ok := event.Object.(client.Object)
		if ok && event.Type != watch.Deleted && desired(object) {
			return time.Since(start), nil
		}
	}
	return time.Since(start), errNotShown
}

func (r *round) changeURL(ctx context.Context, name, url string) error {
	darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	patch := fmt.Sprintf(`{"spec":{"source":{"baseUrl":%q}}}`, url)
	return r.kube.Patch(ctx, darkroom, client.RawPatch("application/merge-patch+json", []byte(patch)))
}
