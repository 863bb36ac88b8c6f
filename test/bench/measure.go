package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	operator "github.com/darkroom-operator/darkroom-operator/internal/controller"
)

// settings are the parameters of a run.
type settings struct {
	n, rounds, trials int
	// shards is how many operators share the Darkrooms.
	shards int
	// period is the resync period; 0 derives it from the number of Darkrooms.
	period time.Duration
	// four reduces the chart to four objects, and extra is the number of objects to add to
	// it; chart and watches are the paths of the resulting chart and its watches file.
	four           bool
	extra          int
	chart, watches string
	// last is set for the last measurement, which does not need to be cleaned up.
	last       bool
	operator   string
	profiles   string
	kubeconfig string
	cluster    *rest.Config
}

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

// measure runs a subject once through everything, and clears up after it.
func (s *settings) measure(ctx context.Context, subject subject) (_ figures, err error) {
	kube, err := client.NewWithWatch(s.cluster, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}
	if err := kube.Create(ctx, namespace); err != nil {
		return nil, err
	}
	fleet, err := s.startAtRest(subject)
	if err != nil {
		return nil, err
	}
	round := &round{settings: s, subject: subject, kube: kube, namespace: namespace.Name, fleet: fleet, figures: figures{}}
	defer func() {
		// A failed round may have taken an hour.
		log.Printf("%s: %v", subject.name, round.figures)
		var clearErr error
		if !s.last {
			// The subject is still there to uninstall what it installed.
			clearErr = clear(context.WithoutCancel(ctx), kube, namespace.Name)
		}
		round.fleet.stop()
		if err == nil {
			err = clearErr
		}
	}()

	for _, step := range []func(context.Context) error{round.burst, round.latencies, round.resync, round.restart, round.defaults, round.tenants} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return round.figures, nil
}

type round struct {
	*settings
	subject   subject
	kube      client.WithWatch
	namespace string
	fleet     fleet
	figures   figures
}

// burst creates N Darkrooms as fast as it can and waits until all are reported on.
func (r *round) burst(ctx context.Context) error {
	before, err := r.fleet.usage()
	if err != nil {
		return err
	}
	asked, err := r.requestKinds(ctx)
	if err != nil {
		return err
	}
	served, err := serversCPU()
	if err != nil {
		return err
	}
	profiled := r.profile("burst.cpu.pprof", fmt.Sprintf("profile?seconds=%d", max(2, r.n/40)))
	start := time.Now()
	creators, createCtx := errgroup.WithContext(ctx)
	creators.SetLimit(16)
	go func() {
		for i := range r.n {
			creators.Go(func() error { return r.kube.Create(createCtx, r.newDarkroom(fmt.Sprintf("burst-%d", i), i)) })
		}
	}()
	if err := r.untilReported(ctx); err != nil {
		return err
	}
	r.figures[burst] = time.Since(start).Seconds()
	log.Printf("%s: burst of %d after %.1f s", r.subject.name, r.n, r.figures[burst])
	if err := creators.Wait(); err != nil {
		return err
	}
	if err := r.quiet(ctx); err != nil {
		return err
	}
	if err := <-profiled; err != nil {
		return err
	}
	after, err := r.fleet.usage()
	if err != nil {
		return err
	}
	askedSince, err := r.requestKinds(ctx)
	if err != nil {
		return err
	}
	servedSince, err := serversCPU()
	if err != nil {
		return err
	}
	r.printRequests(asked, askedSince)
	each := 1 / float64(r.n)
	r.figures[cpuPerInstall] = (after.cpu - before.cpu).Seconds() * 1000 * each
	r.figures[serverCPU] = (servedSince - served).Seconds() * 1000 * each
	r.figures[requestsInstall] = (after.requests - before.requests) * each
	r.figures[reconciles] = (after.reconciles - before.reconciles) * each
	r.figures[statusWrites] = (statusWritesOf(askedSince) - statusWritesOf(asked)) * each
	return nil
}

// untilReported waits until all Darkrooms are reported on. A watch tells, rather than
// many lists, which would be measured too; the API server may end it at any time.
func (r *round) untilReported(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, time.Duration(r.n)*time.Second+time.Minute)
	defer stop()
	for {
		list := &v1alpha1.DarkroomList{}
		if err := r.kube.List(ctx, list, client.InNamespace(r.namespace)); err != nil {
			return err
		}
		reported := map[string]bool{}
		for i := range list.Items {
			if r.subject.reported(&list.Items[i]) {
				reported[list.Items[i].Name] = true
			}
		}
		events, err := r.kube.Watch(ctx, &v1alpha1.DarkroomList{}, client.InNamespace(r.namespace),
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
		if err != nil {
			return err
		}
		for event := range events.ResultChan() {
			if darkroom, ok := event.Object.(*v1alpha1.Darkroom); ok && r.subject.reported(darkroom) {
				reported[darkroom.Name] = true
			}
			if len(reported) >= r.n {
				break
			}
		}
		events.Stop()
		switch {
		case len(reported) >= r.n:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("only %d of %d were reported in time: %w", len(reported), r.n, ctx.Err())
		}
	}
}

// hasDomains reports whether a status has the domains of the resource as it is.
func hasDomains(darkroom *v1alpha1.Darkroom) bool {
	return len(darkroom.Status.Domains) > 0 && darkroom.Status.ObservedGeneration == darkroom.Generation
}

// isDeployed reports whether the release of a Darkroom is reported as deployed.
func isDeployed(darkroom *v1alpha1.Darkroom) bool {
	deployed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionDeployed)
	return deployed != nil && deployed.Status == metav1.ConditionTrue
}

// quiet waits until the subject makes no more requests.
func (r *round) quiet(ctx context.Context) error {
	// The floor installs everything twice.
	for deadline := time.Now().Add(time.Minute + time.Duration(r.n)*100*time.Millisecond); time.Now().Before(deadline); {
		before, err := r.fleet.usage()
		if err != nil {
			return err
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
		after, err := r.fleet.usage()
		if err != nil {
			return err
		}
		if after.requests == before.requests {
			return nil
		}
	}
	return nil // a subject that never rests is measured as it is
}

// latencies changes one thing at a time and takes the median of the answers.
func (r *round) latencies(ctx context.Context) error {
	var creates, changes, repairs []float64
	for i := range r.trials {
		name := fmt.Sprintf("single-%d", i)
		took, err := r.install(ctx, name, i)
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
		if err := r.kube.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: name}, service); err != nil {
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
	for name, values := range map[string][]float64{createToIngress: creates, changeToConfig: changes, serviceBack: repairs} {
		slices.Sort(values)
		r.figures[name] = values[len(values)/2]
	}
	return nil
}

// errNotShown is returned when the effect of a change is not visible in time.
var errNotShown = errors.New("it did not show within a minute")

// install creates a Darkroom, and returns how many milliseconds later its Ingress exists.
func (r *round) install(ctx context.Context, name string, number int) (float64, error) {
	return r.appears(ctx, func() error { return r.kube.Create(ctx, r.newDarkroom(name, number)) }, &networkingv1.IngressList{},
		func(object client.Object) bool { return object.GetName() == name })
}

// appears acts, and returns how many milliseconds later an object of the kind of a list is
// as desired. It watches, because polling would slow down the measured program.
func (r *round) appears(ctx context.Context, act func() error, kind client.ObjectList, desired func(client.Object) bool) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	// Without a version, the watch would begin with all objects that exist.
	if err := r.kube.List(ctx, kind, client.InNamespace(r.namespace), client.Limit(1)); err != nil {
		return 0, err
	}
	watcher, err := r.kube.Watch(ctx, kind, client.InNamespace(r.namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: kind.GetResourceVersion()}})
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
			return milliseconds(start), nil
		}
	}
	return milliseconds(start), errNotShown
}

func milliseconds(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

func (r *round) changeURL(ctx context.Context, name, url string) error {
	darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name}}
	patch := fmt.Sprintf(`{"spec":{"source":{"baseUrl":%q}}}`, url)
	return r.kube.Patch(ctx, darkroom, client.RawPatch("application/merge-patch+json", []byte(patch)))
}

// resync measures what unchanged Darkrooms cost over some periods: more where they are
// few and the process's CPU time, counted in ticks of ten milliseconds, is short.
func (r *round) resync(ctx context.Context) error {
	now, err := r.fleet.usage()
	if err != nil {
		return err
	}
	r.figures[rss] = now.rss
	if err := <-r.profile("heap.pprof", "heap?gc=1"); err != nil || r.subject.restless {
		return err
	}
	r.fleet.stop()
	if r.fleet, err = r.start(r.subject); err != nil {
		return err
	}
	if err := r.quiet(ctx); err != nil {
		return err
	}
	period, periods := r.resyncPeriod(), time.Duration(4)
	if r.n > 1000 {
		periods = 1
	}
	if err := sleep(ctx, period); err != nil {
		return err
	}
	before, err := r.fleet.usage()
	if err != nil {
		return err
	}
	profiled := r.profile("resync.cpu.pprof", fmt.Sprintf("profile?seconds=%d", int((periods*period).Seconds())))
	if err := sleep(ctx, periods*period); err != nil {
		return err
	}
	if err := <-profiled; err != nil {
		return err
	}
	after, err := r.fleet.usage()
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
	if s.period > 0 {
		return s.period
	}
	return max(5*time.Second, time.Duration(s.n)*5*time.Millisecond)
}

// restart measures how long a restarted subject is busy with Darkrooms that are all up to
// date.
func (r *round) restart(ctx context.Context) error {
	start := time.Now()
	if err := r.replace(r.subject); err != nil {
		return err
	}
	profiled := r.profile("restart.cpu.pprof", "profile?seconds="+strconv.Itoa(max(2, r.n/200)))
	// Listing many Darkrooms takes a while before the first one is reconciled.
	used, end, err := r.allReconciled(ctx, time.Minute+time.Duration(r.n)*10*time.Millisecond)
	if err != nil {
		return err
	}
	all := float64(r.n + r.trials)
	r.figures[restart] = end.Sub(start).Seconds()
	r.figures[restartRequests] = used.requests / all
	r.figures[restartWrites] = used.writes / all
	r.figures[restartCPU] = used.cpu.Seconds() * 1000 / all
	return <-profiled
}

// defaults measures a restart after which every Darkroom is upgraded, because a default of
// the operator has changed.
func (r *round) defaults(ctx context.Context) error {
	if r.subject.name != operatorName {
		return nil // it has no such default
	}
	const class = "changed"
	start := time.Now()
	if err := r.replace(r.operatorSubject("--ingress-class=" + class)); err != nil {
		return err
	}
	used, end, err := r.allReconciled(ctx, time.Minute+time.Duration(r.n)*time.Second)
	if err != nil {
		return err
	}
	all := float64(r.n + r.trials)
	r.figures[defaultsTime] = end.Sub(start).Seconds()
	r.figures[defaultsRequests] = used.requests / all
	r.figures[defaultsCPU] = used.cpu.Seconds() * 1000 / all
	r.figures[defaultsRSS] = used.peak
	ingresses := &networkingv1.IngressList{}
	if err := r.kube.List(ctx, ingresses, client.InNamespace(r.namespace)); err != nil {
		return err
	}
	for i := range ingresses.Items {
		if got := ingresses.Items[i].Spec.IngressClassName; got == nil || *got != class {
			return fmt.Errorf("Ingress %s was not upgraded", ingresses.Items[i].Name)
		}
	}
	return nil
}

// replace stops what runs and starts a subject.
func (r *round) replace(subject subject) (err error) {
	r.fleet.stop()
	r.fleet, err = r.startAtRest(subject)
	return err
}

// allReconciled waits until the subject has reconciled every Darkroom and rests, for as long
// as a limit allows, and returns what it has used until when.
func (r *round) allReconciled(ctx context.Context, limit time.Duration) (last usage, end time.Time, err error) {
	end = time.Now()
	all, deadline := float64(r.n+r.trials), end.Add(limit)
	// With many Darkrooms, reading the subject's metrics takes it longer, as do its pauses.
	interval := max(100*time.Millisecond, time.Duration(r.n)*50*time.Microsecond)
	for last.looks < all && time.Now().Before(deadline) || time.Since(end) < max(3*time.Second, 20*interval) {
		now, err := r.fleet.usage()
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

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clear deletes the Darkrooms of a namespace and everything that is left of them.
func clear(ctx context.Context, kube client.Client, namespace string) error {
	if err := deleteAll(ctx, kube, &v1alpha1.Darkroom{}, namespace); err != nil {
		return err
	}
	for deadline := time.Now().Add(5 * time.Minute); ; {
		list := &v1alpha1.DarkroomList{}
		if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return err
		}
		if len(list.Items) == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d Darkrooms were not deleted", len(list.Items))
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	// There is no garbage collector, and the next subject would cache what is left.
	for _, kind := range []client.Object{
		&networkingv1.Ingress{}, &appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}, &corev1.Secret{},
	} {
		if err := deleteAll(ctx, kube, kind, namespace); err != nil {
			return err
		}
	}
	return nil
}

// deleteAll deletes all objects of a kind in a namespace. The API server gives up after a
// minute, in which it deletes some thousands.
func deleteAll(ctx context.Context, kube client.Client, kind client.Object, namespace string) error {
	for attempts := 20; ; attempts-- {
		err := kube.DeleteAllOf(ctx, kind, client.InNamespace(namespace))
		if err == nil || attempts == 0 || !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) {
			return err
		}
	}
}

// newDarkroom returns the i-th Darkroom, in the shard that it falls to.
func (r *round) newDarkroom(name string, i int) *v1alpha1.Darkroom {
	darkroom := newDarkroom(r.namespace, name)
	darkroom.Labels = map[string]string{shardLabel: strconv.Itoa(i % r.shards)}
	return darkroom
}

func newDarkroom(namespace, name string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.DarkroomSpec{
			Source:     v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: "https://example.com/images"},
			SubDomains: []string{name},
		},
	}
}
