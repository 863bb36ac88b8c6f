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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Darkrooms of the troublesome tenant, which exist while another tenant installs Darkrooms.
const (
	// heldDarkrooms are being deleted, but are kept by a foreign finalizer.
	heldDarkrooms = 40
	// invalidDarkrooms cannot be translated.
	invalidDarkrooms = 200
	// refusedDarkrooms have the names of foreign Helm releases.
	refusedDarkrooms = 200

	foreignFinalizer = "bench.example.com/held"
)

// tenants measures how much Darkrooms of other tenants, which cannot be installed or
// deleted, slow down the installs of a tenant: the latency beside them, as a multiple of
// the latency just before.
func (r *round) tenants(ctx context.Context) error {
	if r.subject.name != operatorName {
		return nil // it would install what the operator refuses
	}
	alone, err := r.installs(ctx, "alone")
	if err != nil {
		return err
	}
	trouble := &trouble{round: r}
	err = trouble.begin(ctx)
	if err == nil {
		var crowded []float64
		if crowded, err = r.installs(ctx, "beside"); err == nil {
			r.figures[besideTrouble] = crowded[len(crowded)/2] / alone[len(alone)/2]
			r.figures[besideTroubleWorst] = crowded[len(crowded)-1]
		}
	}
	return errors.Join(err, trouble.end(context.WithoutCancel(ctx)))
}

// installs measures some installs, and returns their latencies in milliseconds, the
// shortest first. One that takes a minute counts as that.
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
			break // the others would be no better
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
	slices.Sort(latencies)
	return latencies, nil
}

// trouble is a troublesome tenant, with a namespace of its own.
type trouble struct {
	*round
	tenant string
}

// begin makes the trouble. The Darkrooms that are held are deleted last, so that they
// are new to the operator when the measurement begins.
func (t *trouble) begin(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-trouble-"}}
	if err := t.kube.Create(ctx, namespace); err != nil {
		return err
	}
	t.tenant = namespace.Name
	clients, err := kubernetes.NewForConfig(t.cluster)
	if err != nil {
		return err
	}
	releases := storage.Init(driver.NewSecrets(clients.CoreV1().Secrets(t.tenant)))
	creators, createCtx := errgroup.WithContext(ctx)
	creators.SetLimit(16)
	for i := range heldDarkrooms {
		held := newDarkroom(t.tenant, fmt.Sprintf("held-%d", i))
		held.Finalizers = []string{foreignFinalizer}
		creators.Go(func() error { return t.kube.Create(createCtx, held) })
	}
	for i := range invalidDarkrooms {
		invalid := newDarkroom(t.tenant, fmt.Sprintf("invalid-%d", i))
		// The rules of the CRD cannot check the names of parameters.
		invalid.Spec.DefaultParams = map[string]v1alpha1.ParamValue{"a b": "c"}
		creators.Go(func() error { return t.kube.Create(createCtx, invalid) })
	}
	for i := range refusedDarkrooms {
		creators.Go(func() error {
			name := fmt.Sprintf("refused-%d", i)
			if err := releases.Create(foreignRelease(t.tenant, name)); err != nil {
				return err
			}
			return t.kube.Create(createCtx, newDarkroom(t.tenant, name))
		})
	}
	if err := creators.Wait(); err != nil {
		return err
	}
	if err := t.untilHandled(ctx); err != nil {
		return err
	}
	return t.eachHeld(ctx, func(held *v1alpha1.Darkroom) error { return t.kube.Delete(ctx, held) })
}

// untilHandled waits until the operator has handled every Darkroom, successfully or not.
func (t *trouble) untilHandled(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, pause, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		list := &v1alpha1.DarkroomList{}
		err := t.kube.List(ctx, list, client.InNamespace(t.tenant))
		return !slices.ContainsFunc(list.Items, func(d v1alpha1.Darkroom) bool { return !isHandled(&d) }), err
	})
}

// isHandled reports whether the Helm reconciler has installed or refused a Darkroom.
func isHandled(darkroom *v1alpha1.Darkroom) bool {
	for _, name := range []string{v1alpha1.ConditionDeployed, v1alpha1.ConditionReleaseFailed, v1alpha1.ConditionIrreconcilable} {
		if condition := v1alpha1.FindCondition(darkroom.Status.Conditions, name); condition != nil && condition.Status != metav1.ConditionUnknown {
			return true
		}
	}
	return false
}

// foreignRelease is a release of any chart.
func foreignRelease(namespace, name string) *release.Release {
	return &release.Release{
		Namespace: namespace, Name: name, Version: 1,
		Info:  &release.Info{Status: release.StatusDeployed},
		Chart: &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "gallery", Version: "1.2.3"}},
	}
}

// eachHeld acts on each Darkroom with the foreign finalizer.
func (t *trouble) eachHeld(ctx context.Context, act func(*v1alpha1.Darkroom) error) error {
	list := &v1alpha1.DarkroomList{}
	if err := t.kube.List(ctx, list, client.InNamespace(t.tenant)); err != nil {
		return err
	}
	for i := range list.Items {
		if !slices.Contains(list.Items[i].Finalizers, foreignFinalizer) {
			continue
		}
		if err := act(&list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// end removes the trouble, so that the next round begins without it.
func (t *trouble) end(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		none := true
		err := t.eachHeld(ctx, func(held *v1alpha1.Darkroom) error {
			none = false
			before := held.DeepCopy()
			held.Finalizers = slices.DeleteFunc(held.Finalizers, func(name string) bool { return name == foreignFinalizer })
			err := t.kube.Patch(ctx, held, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
			if apierrors.IsConflict(err) {
				return nil // the operator has written meanwhile: retry
			}
			return client.IgnoreNotFound(err)
		})
		return none, err
	})
	if err != nil || t.last {
		return err
	}
	return clear(ctx, t.kube, t.tenant)
}
