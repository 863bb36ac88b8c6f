package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// Darkrooms of the troublesome tenant, which exist while another tenant installs Darkrooms.
const (
	// heldDarkrooms is the number of Darkrooms that are being deleted but have a foreign finalizer.
	heldDarkrooms = 40
	// invalidDarkrooms is the number of Darkrooms that cannot be translated.
	invalidDarkrooms = 200
	// refusedDarkrooms is the number of Darkrooms whose names are taken by foreign Helm releases.
	refusedDarkrooms = 200

	foreignFinalizer = "bench.example.com/held"
	heldLabel        = foreignFinalizer

	// trouble is the namespace of the troublesome tenant.
	trouble = "trouble"
)

// tenants measures how much failing Darkrooms of other tenants slow down the installs of a tenant: the latency beside
// them, as a multiple of the latency just before.
func (r *round) tenants(ctx context.Context) error {
	if r.subject.name != operatorName {
		return nil // it would install what the operator rejects
	}
	alone, err := r.installs(ctx, "alone")
	if err != nil {
		return err
	}
	if err := r.makeTrouble(ctx); err != nil {
		return err
	}
	crowded, err := r.installs(ctx, "beside")
	if err != nil {
		return err
	}
	r.figures[besideTrouble] = crowded[len(crowded)/2] / alone[len(alone)/2]
	r.figures[besideTroubleWorst] = crowded[len(crowded)-1]
	return nil
}

// installs measures several installs and returns the sorted latencies in milliseconds, at most a minute each.
func (r *round) installs(ctx context.Context, name string) ([]float64, error) {
	var latencies []float64
	for i := range r.trials {
		name := fmt.Sprintf("%s-%d", name, i)
		took, err := r.install(ctx, name)
		if err != nil && !errors.Is(err, errNotShown) {
			return nil, err
		}
		latencies = append(latencies, took)
		if errors.Is(err, errNotShown) {
			break // further ones would not be faster
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
	slices.Sort(latencies)
	return latencies, nil
}

// makeTrouble creates the Darkrooms of the troublesome tenant. Darkrooms with a foreign finalizer are deleted last, so
// that the operator sees the deletions only when the measurement begins.
func (r *round) makeTrouble(ctx context.Context) error {
	if err := r.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: trouble}}); err != nil {
		return err
	}
	releases := storage.Init(driver.NewSecrets(r.clients.CoreV1().Secrets(trouble)))
	creators, createCtx := errgroup.WithContext(ctx)
	creators.SetLimit(16)
	for i := range heldDarkrooms {
		held := darkrooms.New(fmt.Sprintf("held-%d", i), trouble).Obj()
		held.Finalizers, held.Labels = []string{foreignFinalizer}, map[string]string{heldLabel: ""}
		creators.Go(func() error { return r.kube.Create(createCtx, held) })
	}
	for i := range invalidDarkrooms {
		invalid := darkrooms.New(fmt.Sprintf("invalid-%d", i), trouble).Obj()
		// The rules of the CRD cannot check the names of parameters.
		invalid.Spec.DefaultParams = map[string]v1alpha1.ParamValue{"a b": "c"}
		creators.Go(func() error { return r.kube.Create(createCtx, invalid) })
	}
	for i := range refusedDarkrooms {
		creators.Go(func() error {
			name := fmt.Sprintf("refused-%d", i)
			if err := releases.Create(foreignRelease(trouble, name)); err != nil {
				return err
			}
			return r.kube.Create(createCtx, darkrooms.New(name, trouble).Obj())
		})
	}
	if err := creators.Wait(); err != nil {
		return err
	}
	if err := r.untilHandled(ctx); err != nil {
		return err
	}
	return r.kube.DeleteAllOf(ctx, &v1alpha1.Darkroom{}, client.InNamespace(trouble), client.HasLabels{heldLabel})
}

// untilHandled waits until the operator has handled every Darkroom, successfully or not.
func (r *round) untilHandled(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, pause, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		list := &v1alpha1.DarkroomList{}
		err := r.kube.List(ctx, list, client.InNamespace(trouble))
		return !slices.ContainsFunc(list.Items, func(d v1alpha1.Darkroom) bool { return !isHandled(&d) }), err
	})
}

// isHandled reports whether the Helm reconciler has installed or rejected a Darkroom.
func isHandled(darkroom *v1alpha1.Darkroom) bool {
	for _, name := range []string{
		v1alpha1.ConditionDeployed, v1alpha1.ConditionReleaseFailed,
		v1alpha1.ConditionIrreconcilable,
	} {
		if condition := v1alpha1.FindCondition(darkroom.Status.Conditions, name); condition != nil &&
			condition.Status != metav1.ConditionUnknown {
			return true
		}
	}
	return false
}

// foreignRelease returns a Helm release of another chart.
func foreignRelease(namespace, name string) *release.Release {
	return &release.Release{
		Namespace: namespace, Name: name, Version: 1,
		Info:  &release.Info{Status: release.StatusDeployed},
		Chart: &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "gallery", Version: "1.2.3"}},
	}
}
