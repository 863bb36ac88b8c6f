package controller_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

const baseDomain = "darkroom.example.com"

// All tests of this package share one API server; each test uses its own namespaces.
var (
	cluster *rest.Config
	kube    client.WithWatch
	// asOperator is the identity of operators. The guard restricts its writes.
	asOperator *rest.Config
)

func TestMain(m *testing.M) {
	var written io.Writer = &theLog
	if os.Getenv("TEST_LOGS") != "" {
		written = io.MultiWriter(written, os.Stderr)
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(written), zap.JSONEncoder(), zap.Level(zapcore.DebugLevel)))
	// OpenShift also enables this plugin. An owner reference with blockOwnerDeletion then needs a permission on the
	// finalizers of the owner.
	flags := map[string]string{"enable-admission-plugins": "OwnerReferencesPermissionEnforcement"}
	os.Exit(controlplane.MainWith(m, flags, func(administrator *rest.Config) (err error) {
		cluster = administrator
		scheme := controller.NewScheme()
		if err := apiextensionsv1.AddToScheme(scheme); err != nil {
			return err
		}
		if kube, err = client.NewWithWatch(cluster, client.Options{Scheme: scheme}); err != nil {
			return err
		}
		asOperator, err = access.NewGuardedOperator(context.Background(), cluster, filepath.Join("..", ".."))
		return err
	}))
}

// theLog contains the debug log of all operators.
var theLog logBuffer

type logBuffer struct {
	mu    sync.Mutex
	lines []byte
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, p...)
	return len(p), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.lines)
}

// operator is a manager with all controllers, limited to the namespaces of a test.
type operator struct {
	t       testing.TB
	stop    context.CancelFunc
	ended   chan error
	manager manager.Manager

	mu sync.Mutex
	// sent are the methods and paths of all requests except watches. forbidden are the requests that the API server
	// forbade, including watches.
	sent, forbidden []string
	// answered is the number of the sent requests that have ended.
	answered int
}

// settings are the settings of one operator.
type settings struct {
	controller.Options

	kubeconfig *rest.Config
	darkrooms  labels.Selector
	// add adds the controllers to the manager.
	add func(context.Context, manager.Manager, controller.Options) error
}

type operatorOption func(*settings)

func withPeriod(period time.Duration) operatorOption {
	return func(s *settings) { s.ReconcilePeriod = period }
}

// withLeasesIn sets the namespace of the Leases.
func withLeasesIn(namespace string) operatorOption {
	return func(s *settings) { s.LeaseNamespace = namespace }
}

// beforeEach calls a function before each request of an operator. If the function returns an error, the request is not
// sent.
func beforeEach(call func(*http.Request) error) operatorOption {
	return func(s *settings) {
		s.kubeconfig.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				if err := call(request); err != nil {
					return nil, err
				}
				return next.RoundTrip(request)
			})
		})
	}
}

// startOperator runs an operator for a namespace until the test ends or kills it.
func startOperator(t testing.TB, namespace string, options ...operatorOption) *operator {
	t.Helper()
	return startOperatorFor(t, []string{namespace}, options...)
}

// startOperatorFor is startOperator for several namespaces.
func startOperatorFor(t testing.TB, namespaces []string, options ...operatorOption) *operator {
	t.Helper()
	o := &operator{t: t, ended: make(chan error, 1)}
	s := &settings{
		Options: translating(t, namespaces), kubeconfig: rest.CopyConfig(asOperator),
		darkrooms: labels.Everything(), add: controller.Add,
	}
	s.kubeconfig.Wrap(o.record)
	for _, option := range options {
		option(s)
	}
	s.Selector = s.darkrooms
	o.manager = newManager(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	o.stop = cancel
	if err := s.add(ctx, o.manager, s.Options); err != nil {
		t.Fatal(err)
	}
	go func() { o.ended <- o.manager.Start(ctx) }()
	t.Cleanup(o.kill)
	if !o.manager.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the caches were not filled")
	}
	return o
}

// translating returns the options of an operator for some namespaces.
func translating(t testing.TB, namespaces []string) controller.Options {
	t.Helper()
	chrt, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	return controller.Options{
		Chart:                   chrt,
		Values:                  values.Options{BaseDomains: []string{baseDomain}},
		Namespaces:              namespaces,
		LeaseNamespace:          append(slices.Clone(namespaces), "default")[0],
		MaxConcurrentReconciles: 2,
		MaxHistory:              3,
		// Many tests count requests. Tests of optional kinds set a shorter period.
		DiscoveryPeriod: time.Hour,
	}
}

// newManager discovers the API of the cluster and creates a manager with an operator's caches.
func newManager(t testing.TB, s *settings) manager.Manager {
	t.Helper()
	var err error
	if s.Cluster, err = controller.Discover(t.Context(), discoveryClient(t, s.kubeconfig)); err != nil {
		t.Fatal(err)
	}
	caches, err := controller.CacheOptions(s.Namespaces, s.darkrooms, s.LeaseNamespace)
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(s.kubeconfig, manager.Options{
		Scheme:                  controller.NewScheme(),
		Cache:                   caches,
		Controller:              config.Controller{SkipNameValidation: ptr.To(true)},
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		GracefulShutdownTimeout: ptr.To(5 * time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

func discoveryClient(t testing.TB, kubeconfig *rest.Config) *discovery.DiscoveryClient {
	t.Helper()
	api, err := discovery.NewDiscoveryClientForConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// kill stops the operator and waits until it has ended.
func (o *operator) kill() {
	o.stop()
	err := <-o.ended
	o.ended <- nil
	if err != nil && !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "grace period") {
		o.t.Logf("operator ended: %v", err)
	}
}

// record records the requests of an operator.
func (o *operator) record(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		line := request.Method + " " + request.URL.Path
		if request.URL.Query().Get("watch") == "" {
			o.note(&o.sent, line)
			defer func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.answered++
			}()
		}
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode == http.StatusForbidden {
			o.note(&o.forbidden, line)
		}
		return response, err
	})
}

func (o *operator) note(list *[]string, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	*list = append(*list, line)
}

// requests returns all requests so far except watches.
func (o *operator) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.sent)
}

// leaseRequests counts the requests so far with a method for Leases.
func (o *operator) leaseRequests(method string) int {
	return len(slices.DeleteFunc(o.requests(), func(line string) bool {
		return !strings.HasPrefix(line, method) || !strings.Contains(line, "/leases")
	}))
}

// writes counts the write requests so far.
func (o *operator) writes() int {
	return len(slices.DeleteFunc(o.requests(), func(line string) bool { return strings.HasPrefix(line, http.MethodGet) }))
}

// traffic returns the number of requests so far except watches, and of those that have ended.
func (o *operator) traffic() (sent, answered int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.sent), o.answered
}

// quiet returns an error if a request of an operator begins, ends or continues within a second.
func quiet(o *operator) func(context.Context) error {
	return func(context.Context) error {
		sent, answered := o.traffic()
		time.Sleep(time.Second)
		if afterSent, afterAnswered := o.traffic(); afterSent != sent || afterAnswered != answered || sent != answered {
			return fmt.Errorf("%d requests have ended of %d, and a second before %d of %d, want no change",
				afterAnswered, afterSent, answered, sent)
		}
		return nil
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
