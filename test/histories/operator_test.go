package histories

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/faults"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

const (
	mainInstallation  = controller.DefaultInstallation
	otherInstallation = "other"
)

// baseDomains are the base domains with which the main installation may be started.
var baseDomains = []string{"darkroom.example.com", "images.example.com"}

// settings are an installation's settings for every Darkroom, valid since a time.
type settings struct {
	since time.Time
	values.Options
	MaxConcurrentRollouts int
	MaxHistory            int
	ReconcilePeriod       time.Duration
	Published             status.Published
}

func settingsOf(domains ...string) settings {
	return settings{since: time.Now(), Options: values.Options{BaseDomains: domains}, MaxHistory: 3}
}

// settingsAt returns the settings of a process at a time.
func (w *world) settingsAt(p process, at time.Time) settings {
	if p.installation != mainInstallation {
		return settingsOf("other.example.com")
	}
	now := w.settings[0]
	for _, later := range w.settings {
		if !later.since.After(at) {
			now = later
		}
	}
	if p.namespace != "" {
		now.BaseDomains = []string{baseDomains[slices.Index(w.namespaces(), p.namespace)]}
	}
	return now
}

// restart restarts the operator with other settings.
func (w *world) restart(s settings) error {
	w.stop(mainInstallation)
	s.since = time.Now()
	w.settings = append(w.settings, s)
	return w.start(mainInstallation)
}

// process is a process of the operator.
type process struct {
	installation string
	// replica numbers the processes that take part in a leader election; 0 does not take part.
	replica int
	// shard is the label of the Darkrooms that the process handles, and namespace their namespace; empty means all.
	shard, namespace string
}

// handles reports whether a Darkroom is in the shard of a process.
func (p process) handles(d *v1alpha1.Darkroom) bool {
	return (p.shard == "" || d.Labels[shardLabel] == p.shard) && (p.namespace == "" || d.Namespace == p.namespace)
}

// lease returns the lease of a process, if it takes part in a leader election.
func (w *world) leaseOf(p process) types.NamespacedName {
	lease := w.lease()
	lease.Name += cmp.Or(strings.TrimSuffix(p.namespace, w.suffix), p.shard)
	return lease
}

// operator is a running operator.
type operator struct {
	stop    context.CancelFunc
	ended   chan error
	traffic *traffic
}

// processes are the processes of an installation, running or not.
func (w *world) processes(installation string) []process {
	switch {
	case installation == mainInstallation && w.elects:
		return []process{{installation: installation, replica: 1}, {installation: installation, replica: 2}}
	case installation == mainInstallation && w.sharded:
		return []process{{installation, 1, shards[0], ""}, {installation, 1, shards[1], ""}}
	case installation == mainInstallation && w.divided:
		var processes []process
		for _, namespace := range w.namespaces() {
			processes = append(processes, process{installation, 1, "", namespace})
		}
		return processes
	}
	return []process{{installation: installation}}
}

// start starts the processes of an installation that are not running.
func (w *world) start(installation string) error {
	err := errNothingToDo
	for _, p := range w.processes(installation) {
		if w.operators[p] != nil || w.gone[p] {
			continue
		}
		if err = w.run(p); err != nil {
			return err
		}
	}
	return err
}

// run starts a process.
func (w *world) run(p process) error {
	o := &operator{ended: make(chan error, 1), traffic: &traffic{timeline: w.timeline, process: p}}
	kubeconfig := rest.CopyConfig(w.asOperator)
	kubeconfig.Wrap(o.traffic.record)
	kubeconfig.Wrap(w.faults.Inject)
	kubeconfig.Wrap(o.traffic.watch)
	controller.BoundRequests(kubeconfig)
	manager, options, err := w.manager(kubeconfig, p)
	if err != nil && w.faults.Current() != "" {
		return errNothingToDo // it waits until it knows what the cluster serves
	}
	if err != nil {
		return err
	}
	var ctx context.Context
	ctx, o.stop = context.WithCancel(w.ctx)
	if err := controller.Add(ctx, manager, options); err != nil {
		return err
	}
	o.traffic.elected = manager.Elected()
	go func() { o.ended <- manager.Start(ctx) }()
	w.operators[p] = o
	w.started++
	return nil
}

func (w *world) manager(kubeconfig *rest.Config, p process) (manager.Manager, controller.Options, error) {
	chrt, err := charts.Darkroom()
	selector, namespaces := labels.Everything(), w.namespaces()
	if p.shard != "" {
		selector = labels.SelectorFromSet(labels.Set{shardLabel: p.shard})
	}
	if p.namespace != "" {
		namespaces = []string{p.namespace}
	}
	settings := w.settingsAt(p, time.Now())
	options := controller.Options{
		Selector: selector,
		Chart:    chrt, Values: settings.Options, Namespaces: namespaces,
		MaxConcurrentRollouts: settings.MaxConcurrentRollouts, ReconcilePeriod: settings.ReconcilePeriod,
		MaxHistory: settings.MaxHistory, Published: settings.Published,
		Probe: w.probe, ProbeConcurrency: 2,
		MaxConcurrentReconciles: 2, DiscoveryPeriod: time.Hour, Installation: p.installation,
		LeaseNamespace: metav1.NamespaceDefault,
	}
	if err != nil {
		return nil, options, err
	}
	api, err := discovery.NewDiscoveryClientForConfig(kubeconfig)
	if err != nil {
		return nil, options, err
	}
	if options.Cluster, err = controller.Discover(w.ctx, api); err != nil {
		return nil, options, err
	}
	caches, err := controller.CacheOptions(options.Namespaces, selector, options.LeaseNamespace)
	if err != nil {
		return nil, options, err
	}
	lease := w.leaseOf(p)
	mgr, err := ctrl.NewManager(kubeconfig, manager.Options{
		Scheme: controller.NewScheme(), Cache: caches, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Metrics: metricsserver.Options{BindAddress: "0"}, GracefulShutdownTimeout: ptr.To(5 * time.Second),
		LeaderElection: p.replica > 0, LeaderElectionNamespace: lease.Namespace, LeaderElectionID: lease.Name,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(leaseDuration), RenewDeadline: ptr.To(leaseDuration * 3 / 4),
		RetryPeriod: ptr.To(leaseDuration / 20),
	})
	return mgr, options, err
}

// revive acts as the kubelet: it restarts processes that ended by themselves.
func (w *world) revive() error {
	for p, o := range w.operators {
		if !o.isOver() {
			continue
		}
		w.forget(p)
		if err := benign(w.run(p)); err != nil {
			return err
		}
	}
	return nil
}

// isOver reports whether the process has ended by itself.
func (o *operator) isOver() bool {
	select {
	case err := <-o.ended:
		o.ended <- err
		return true
	default:
		return false
	}
}

// stop kills the processes of an installation and interrupts their requests.
func (w *world) stop(installation string) {
	for _, p := range w.processes(installation) {
		if o := w.operators[p]; o != nil {
			o.stop()
			w.forget(p)
		}
	}
}

// forget waits for the end of a process.
func (w *world) forget(p process) {
	o := w.operators[p]
	if err := <-o.ended; err != nil && !errors.Is(err, context.Canceled) {
		ctrl.Log.Info("An operator ended", "cause", err.Error())
	}
	o.stop()
	w.timeline.add(o.traffic.count())
	delete(w.operators, p)
}

// request is a request of an operator other than a watch.
type request struct {
	at     time.Time
	line   string // method, path, and the created object
	status int
}

// traffic are the requests of one operator, from its start to its end.
type traffic struct {
	timeline *timeline
	process  process
	// elected is closed once the controllers of the process have been started, because it leads.
	elected <-chan struct{}

	mu   sync.Mutex
	sent []request
	// writes is the number of write requests.
	writes int
	// closed are watches that were attempted but are not open. told is the time since which there are none.
	closed map[string]bool
	told   time.Time
}

func (t *traffic) all() []request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent
}

func (t *traffic) count() count {
	t.mu.Lock()
	defer t.mu.Unlock()
	return count{len(t.sent), t.writes}
}

// count is a number of requests, and of writes among them.
type count struct{ requests, writes int }

func (c count) plus(other count) count {
	return count{c.requests + other.requests, c.writes + other.writes}
}

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }

// isCheck reports whether a request only checks whether the cluster has changed.
func isCheck(r *http.Request) bool {
	return r.Method == http.MethodGet && !strings.Contains(r.URL.Path, "/namespaces/")
}

// isElection reports whether a request is about a leader election lease. A leader renews the lease frequently, and
// standby processes try to create a missing lease.
func isElection(line string) bool { return strings.Contains(line, "/leases/"+electionName) }

// record records requests that reach the API server.
func (t *traffic) record(next http.RoundTripper) http.RoundTripper {
	return faults.RoundTripper(func(r *http.Request) (*http.Response, error) {
		line := r.Method + " " + r.URL.Path + created(r)
		if isWatch(r) || isCheck(r) || isElection(line) {
			return next.RoundTrip(r)
		}
		at := time.Now()
		response, err := next.RoundTrip(r)
		status := 0
		if err == nil {
			status = response.StatusCode
			err = t.timeline.note(r, t, at, t.toldSince(), response)
		}
		t.mu.Lock()
		t.sent = append(t.sent, request{at, line, status})
		if r.Method != http.MethodGet {
			t.writes++
		}
		t.mu.Unlock()
		return response, err
	})
}

// watch records when watches end and are opened again.
func (t *traffic) watch(next http.RoundTripper) http.RoundTripper {
	return faults.RoundTripper(func(r *http.Request) (*http.Response, error) {
		if !isWatch(r) {
			return next.RoundTrip(r)
		}
		query := r.URL.Query()
		name := strings.Join([]string{
			r.URL.Path, query.Get("labelSelector"), query.Get("fieldSelector"),
			r.Header.Get("Accept"),
		}, " ")
		t.setClosed(name, true)
		response, err := next.RoundTrip(r)
		if err == nil && response.StatusCode == http.StatusOK {
			t.setClosed(name, false)
			response.Body = &watchBody{response.Body, func() { t.setClosed(name, true) }}
		}
		return response, err
	})
}

// watchBody is the body of a watch.
type watchBody struct {
	io.ReadCloser
	closed func()
}

func (b *watchBody) Close() error {
	b.closed()
	return b.ReadCloser.Close()
}

func (t *traffic) setClosed(watch string, isClosed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed == nil {
		t.closed = map[string]bool{}
	}
	if delete(t.closed, watch); isClosed {
		t.closed[watch] = true
	}
	if len(t.closed) == 0 {
		t.told = time.Now()
	}
}

// isTold reports whether all watches are open.
func (t *traffic) isTold() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.closed) == 0
}

// toldSince returns the time since which all watches are open; zero if one is not.
func (t *traffic) toldSince() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.closed) > 0 {
		return time.Time{}
	}
	return t.told
}

func (t *traffic) leads() bool {
	select {
	case <-t.elected:
		return true
	default:
		return false
	}
}

// nameOfRelease matches the name of a revision, which is the only object that every attempt at a Darkroom creates.
var nameOfRelease = regexp.MustCompile(`sh\.helm\.release\.v1\.([a-z0-9-]+)\.v`)

// created returns a slash and the name of the object that a request creates, which is not in its path: the Darkroom of
// a revision, or a leader election lease. It is empty for other requests.
func created(r *http.Request) string {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return ""
	}
	body, err := r.GetBody()
	if err != nil {
		return ""
	}
	content, err := io.ReadAll(body)
	if found := nameOfRelease.FindSubmatch(content); err == nil && found != nil {
		return "/" + string(found[1])
	}
	if strings.HasSuffix(r.URL.Path, "/leases") && bytes.Contains(content, []byte(electionName+"-")) {
		return "/" + electionName
	}
	return ""
}

// isRefused reports whether the API server rejected a request for a reason that persists after a retry.
func (r request) isRefused() bool {
	return r.status == http.StatusBadRequest || r.status == http.StatusForbidden ||
		r.status == http.StatusUnprocessableEntity
}

// hottest returns the rejected request that an operator repeated most often within a time window.
func (t *traffic) hottest(window time.Duration) (line string, times int) {
	recent := map[string][]time.Time{}
	for _, r := range t.all() {
		if !r.isRefused() {
			continue
		}
		recent[r.line] = append(slices.DeleteFunc(recent[r.line], func(at time.Time) bool { return r.at.Sub(at) > window }),
			r.at)
		if len(recent[r.line]) > times {
			line, times = r.line, len(recent[r.line])
		}
	}
	return line, times
}

// describe describes a request without parts that differ between histories.
func (w *world) describe(line string, times int) string {
	return fmt.Sprintf("%s, %d times", w.plain(line[:strings.LastIndex(line, "/")]), times)
}

// probe simulates the sources of images, because no pods run here.
func (w *world) probe(context.Context, types.NamespacedName, probe.Target) probe.Outcome {
	if w.unserved.Load() {
		return probe.Outcome{Reason: v1alpha1.ReasonSourceDenied, Message: "The source denies access."}
	}
	return probe.Outcome{Reason: v1alpha1.ReasonImageServed, StatusCode: http.StatusOK}
}
