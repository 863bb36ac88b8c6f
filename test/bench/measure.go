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
	networkingv1 "k8s.io/api/networking/v1"
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

// namespace has the Darkrooms that are measured.
const namespace = "bench"

// pause is the time between two changes, so that they are measured separately.
const pause = 300 * time.Millisecond

// figures are measurements by name.
type figures map[string]float64

// Names of the figures, in the order of the table.
const (
	burst           = "burst: all installed and reported, s"
	cpuPerInstall   = "CPU per install, ms"
	serverCPU       = "CPU of API server and etcd per install, ms"
	requestsInstall = "API requests per install"
	reconciles      = "reconciles per install"
	statusWrites    = "status writes per install"
	createToIngress = "create → its Ingress exists, ms"
	changeToConfig  = "change of baseUrl → ConfigMap has it, ms"
	serviceBack     = "deleted Service back, ms"
	resyncRequests  = "unchanged resync: API requests each"
	resyncCPU       = "unchanged resync: CPU each, ms"
	rss             = "RSS after, MiB"
	restart         = "restart: all verified, s"
	restartRequests = "restart: API requests each"
	restartWrites   = "restart: of these writes"
	restartCPU      = "restart: CPU each, ms"
	// A default of the operator has changed.
	defaultsTime     = "changed default: all upgraded, s"
	defaultsRequests = "changed default: API requests each"
	defaultsCPU      = "changed default: CPU each, ms"
	defaultsRSS      = "changed default: RSS at most, MiB"
	// The tenants are described in tenants.go.
	besideTrouble      = "create beside troublesome tenants, × alone"
	besideTroubleWorst = "create beside troublesome tenants: the longest, ms"
)

var figureNames = []string{
	burst, cpuPerInstall, serverCPU, requestsInstall, reconciles, statusWrites, createToIngress, changeToConfig, serviceBack,
	resyncRequests, resyncCPU, rss, restart, restartRequests, restartWrites, restartCPU,
	defaultsTime, defaultsRequests, defaultsCPU, defaultsRSS,
	besideTrouble, besideTroubleWorst,
}

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

// measure runs a subject once through everything, with a control plane of its own.
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
		// A failed round may have taken an hour.
		log.Printf("%s: %v", subject.name, r.figures)
		if r.process != nil {
			r.process.stop()
		}
	}()
	for _, step := range []func(context.Context) error{
		r.begin, r.burst, r.latencies, r.resync, r.restart, r.defaults, r.tenants,
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
	return r.startAtRest(ctx, r.subject)
}

// burst creates N Darkrooms as fast as it can and waits until all are reported on.
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
				creators.Go(func() error { return r.kube.Create(createCtx, newDarkroom(namespace, fmt.Sprintf("burst-%d", i))) })
			}
		}()
		return nil
	}
	reported := map[string]bool{}
	took, err := r.appearsWithin(ctx, time.Duration(r.n)*time.Second+time.Minute, create, &v1alpha1.DarkroomList{}, func(object client.Object) bool {
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
	if err := r.quiet(ctx); err != nil {
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

// snapshot is what the subject and the servers have used.
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

// hasDomains reports whether a status has the domains of the resource as it is.
func hasDomains(darkroom *v1alpha1.Darkroom) bool {
	return len(darkroom.Status.Domains) > 0 && darkroom.Status.ObservedGeneration == darkroom.Generation
}

func newDarkroom(namespace, name string) *v1alpha1.Darkroom {
	return darkrooms.New(name, namespace).Obj()
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// quiet waits until the subject makes no more requests.
func (r *round) quiet(ctx context.Context) error {
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
		if after.requests == before.requests {
			return nil
		}
	}
	return nil // a subject that never rests is measured as it is
}

// resync measures what unchanged Darkrooms cost over some periods: more where they are
// few and the process's CPU time, counted in ticks of ten milliseconds, is short.
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
	if err := r.quiet(ctx); err != nil {
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

// resyncPeriod leaves the operators most of their time to rest.
func (s *settings) resyncPeriod() time.Duration {
	return max(5*time.Second, time.Duration(s.n)*5*time.Millisecond)
}

// restart measures how long a restarted subject is busy with Darkrooms that are all up to
// date.
func (r *round) restart(ctx context.Context) error {
	// Listing many Darkrooms takes a while before the first one is reconciled.
	used, took, err := r.replace(ctx, r.subject, time.Minute+time.Duration(r.n)*10*time.Millisecond)
	if err != nil {
		return err
	}
	all := float64(r.n + r.trials)
	r.figures[restart] = took.Seconds()
	r.figures[restartRequests] = used.requests / all
	r.figures[restartWrites] = used.writes / all
	r.figures[restartCPU] = used.cpu.Seconds() * 1000 / all
	return nil
}

// defaults measures a restart after which every Darkroom is upgraded, because a default of
// the operator has changed.
func (r *round) defaults(ctx context.Context) error {
	if r.subject.name != operatorName {
		return nil // it has no such default
	}
	const class = "changed"
	used, took, err := r.replace(ctx, r.operatorSubject("--ingress-class="+class), time.Minute+time.Duration(r.n)*time.Second)
	if err != nil {
		return err
	}
	all := float64(r.n + r.trials)
	r.figures[defaultsTime] = took.Seconds()
	r.figures[defaultsRequests] = used.requests / all
	r.figures[defaultsCPU] = used.cpu.Seconds() * 1000 / all
	r.figures[defaultsRSS] = used.peak
	ingresses := &networkingv1.IngressList{}
	if err := r.kube.List(ctx, ingresses, client.InNamespace(namespace)); err != nil {
		return err
	}
	for i := range ingresses.Items {
		if got := ingresses.Items[i].Spec.IngressClassName; got == nil || *got != class {
			return fmt.Errorf("Ingress %s was not upgraded", ingresses.Items[i].Name)
		}
	}
	return nil
}

// replace stops what runs, starts a subject, and returns what it uses until it has reconciled
// everything, and how long that takes.
func (r *round) replace(ctx context.Context, subject subject, limit time.Duration) (used usage, took time.Duration, err error) {
	start := time.Now()
	r.process.stop()
	if err := r.startAtRest(ctx, subject); err != nil {
		return used, 0, err
	}
	used, end, err := r.allReconciled(ctx, limit)
	return used, end.Sub(start), err
}

// allReconciled waits until the subject has reconciled every Darkroom and rests, for as long
// as a limit allows, and returns what it has used until when.
func (r *round) allReconciled(ctx context.Context, limit time.Duration) (last usage, end time.Time, err error) {
	end = time.Now()
	all, deadline := float64(r.n+r.trials), end.Add(limit)
	// With many Darkrooms, reading the subject's metrics takes it longer, as do its pauses.
	interval := max(100*time.Millisecond, time.Duration(r.n)*50*time.Microsecond)
	for last.looks < all && time.Now().Before(deadline) || time.Since(end) < max(3*time.Second, 20*interval) {
		now, err := r.process.usage()
		if err != nil {
			return last, end, err
		}
		if now.requests != last.requests || now.looks != last.looks {
			last, end = now, time.Now()
		}
		if err := sleep(ctx, interval); err != nil {
			return last, end, err
		}
	}
	if last.looks < all {
		return last, end, fmt.Errorf("only %.0f of %.0f Darkrooms were reconciled after a restart", last.looks, all)
	}
	return last, end, nil
}
