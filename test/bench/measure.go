package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	operator "github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// settings are the parameters of a run.
type settings struct {
	n, rounds, trials int
	operator          string
}

// namespace is the namespace of the measured Darkrooms.
const namespace = "bench"

// pause is the time between two changes, so that they are measured separately.
const pause = 300 * time.Millisecond

// round measures a subject once.
type round struct {
	*settings
	subject    subject
	kubeconfig string
	kube       client.WithWatch
	clients    *kubernetes.Clientset
	process    *process
	figures    figures
}

// measure runs all measurements of a subject once, with its own control plane.
func (s *settings) measure(ctx context.Context, subject subject) (_ figures, err error) {
	cluster, stopCluster, err := controlplane.StartToMeasure()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stopCluster()) }()
	folder, err := os.MkdirTemp("", "darkroom-bench")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	r := &round{settings: s, subject: subject, kubeconfig: filepath.Join(folder, "kubeconfig"), figures: figures{}}
	if err := access.WriteKubeconfig(cluster, "", r.kubeconfig); err != nil {
		return nil, err
	}
	if r.kube, err = client.NewWithWatch(cluster, client.Options{Scheme: operator.NewScheme()}); err != nil {
		return nil, err
	}
	if r.clients, err = kubernetes.NewForConfig(cluster); err != nil {
		return nil, err
	}
	defer func() {
		// Also after a failure: the round may have taken an hour.
		log.Printf("%s: %v", subject.name, r.figures)
		if r.process != nil {
			r.process.stop()
		}
	}()
	for _, step := range []func(context.Context) error{
		r.begin, r.burst, r.latencies, r.resync, r.restart, r.plan, r.defaults, r.tenants,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return r.figures, nil
}

func (r *round) begin(ctx context.Context) error {
	if err := r.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return err
	}
	return r.start(ctx, r.subject, atRest)
}

// burst creates N Darkrooms as fast as possible and waits until all have a status.
func (r *round) burst(ctx context.Context) error {
	before, err := r.snapshot(ctx)
	if err != nil {
		return err
	}
	creators, createCtx := errgroup.WithContext(ctx)
	creators.SetLimit(16)
	create := func() error {
		go func() {
			for i := range r.n {
				creators.Go(func() error {
					return r.kube.Create(createCtx, darkrooms.New(fmt.Sprintf("burst-%d", i), namespace).Obj())
				})
			}
		}()
		return nil
	}
	reported := map[string]bool{}
	took, err := r.appearsWithin(ctx, time.Duration(r.n)*time.Second+time.Minute, create, &v1alpha1.DarkroomList{},
		func(object client.Object) bool {
			if darkroom, ok := object.(*v1alpha1.Darkroom); ok && hasDomains(darkroom) {
				reported[darkroom.Name] = true
			}
			return len(reported) == r.n
		})
	if err != nil {
		return fmt.Errorf("%d of %d were reported: %w", len(reported), r.n, err)
	}
	r.figures[burst] = took.Seconds()
	log.Printf("%s: burst of %d after %.1f s", r.subject.name, r.n, r.figures[burst])
	if err := creators.Wait(); err != nil {
		return err
	}
	if err := r.quiet(ctx, r.n); err != nil {
		return err
	}
	after, err := r.snapshot(ctx)
	if err != nil {
		return err
	}
	each := 1 / float64(r.n)
	r.figures[cpuPerInstall] = (after.cpu - before.cpu).Seconds() * 1000 * each
	r.figures[serverCPU] = (after.served - before.served).Seconds() * 1000 * each
	r.figures[requestsInstall] = (after.requests - before.requests) * each
	r.figures[reconciles] = (after.reconciles - before.reconciles) * each
	r.figures[statusWrites] = (after.statusWrites - before.statusWrites) * each
	return nil
}

// snapshot is the resource usage of the subject and the servers.
type snapshot struct {
	usage

	statusWrites float64
	served       time.Duration
}

func (r *round) snapshot(ctx context.Context) (s snapshot, err error) {
	if s.usage, err = r.process.usage(); err != nil {
		return s, err
	}
	if s.statusWrites, err = r.statusWrites(ctx); err != nil {
		return s, err
	}
	s.served, err = serversCPU()
	return s, err
}

// hasDomains reports whether the status contains the domains that the current spec requests.
func hasDomains(darkroom *v1alpha1.Darkroom) bool {
	return len(darkroom.Status.Domains) > 0 && darkroom.Status.ObservedGeneration == darkroom.Generation
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// quiet waits until the subject has reconciled a number of Darkrooms since its start and sends no more requests. While
// it lists many, there are quiet seconds before it reconciles the first.
func (r *round) quiet(ctx context.Context, reconciled int) error {
	// The floor installs everything twice.
	for deadline := time.Now().Add(time.Minute + time.Duration(r.n)*100*time.Millisecond); time.Now().Before(deadline); {
		before, err := r.process.usage()
		if err != nil {
			return err
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
		after, err := r.process.usage()
		if err != nil {
			return err
		}
		if after.requests == before.requests && after.looks >= float64(reconciled) {
			return nil
		}
	}
	return nil // a subject that is never idle is measured as it is
}

// resync measures the cost of unchanged Darkrooms over several periods. With few Darkrooms it uses more periods,
// because CPU time is counted in ticks of ten milliseconds.
func (r *round) resync(ctx context.Context) error {
	now, err := r.process.usage()
	if err != nil {
		return err
	}
	r.figures[rss] = now.rss
	period, periods := r.resyncPeriod(), time.Duration(4)
	if r.n > 1000 {
		periods = 1
	}
	r.process.stop()
	if err := r.start(ctx, r.subject, period); err != nil {
		return err
	}
	if err := r.quiet(ctx, r.n+r.trials); err != nil {
		return err
	}
	if err := sleep(ctx, period); err != nil {
		return err
	}
	before, err := r.process.usage()
	if err != nil {
		return err
	}
	if err := sleep(ctx, periods*period); err != nil {
		return err
	}
	after, err := r.process.usage()
	if err != nil {
		return err
	}
	resyncs := float64(r.n+r.trials) * float64(periods)
	r.figures[resyncRequests] = (after.requests - before.requests) / resyncs
	r.figures[resyncCPU] = (after.cpu - before.cpu).Seconds() * 1000 / resyncs
	return nil
}

// resyncPeriod leaves the operators idle most of the time.
func (s *settings) resyncPeriod() time.Duration {
	return max(5*time.Second, time.Duration(s.n)*5*time.Millisecond)
}
