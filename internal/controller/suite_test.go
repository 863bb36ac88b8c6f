package controller_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

const (
	baseDomain = "darkroom.example.com"
	// waitTimeout bounds the wait for states that should take a second or less:
	// machines that run tests are shared.
	waitTimeout = 60 * time.Second
)

// cluster is the API server that all tests of this package share; each test has a
// namespace of its own.
var (
	cluster *rest.Config
	kube    client.WithWatch
)

func TestMain(m *testing.M) {
	var written io.Writer = &theLog
	if os.Getenv("TEST_LOGS") != "" {
		written = io.MultiWriter(written, os.Stderr)
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(written), zap.JSONEncoder(), zap.Level(zapcore.DebugLevel)))
	os.Exit(controlplane.Main(m, func(administrator *rest.Config) (err error) {
		cluster = administrator
		kube, err = client.NewWithWatch(cluster, client.Options{Scheme: controller.NewScheme()})
		return err
	}))
}

// theLog is what all operators logged, at the level debug.
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

// operator is a manager with both controllers, limited to the namespaces of a test.
type operator struct {
	t        testing.TB
	stop     context.CancelFunc
	ended    chan error
	requests *requestCounter
	manager  manager.Manager
}

type operatorOption func(*controller.Options, *rest.Config)

func withPeriod(period time.Duration) operatorOption {
	return func(o *controller.Options, _ *rest.Config) { o.ReconcilePeriod = period }
}

func withTransport(wrap func(http.RoundTripper) http.RoundTripper) operatorOption {
	return func(_ *controller.Options, c *rest.Config) { c.Wrap(wrap) }
}

// startOperator runs an operator until the test ends or stops it.
func startOperator(t testing.TB, namespace string, options ...operatorOption) *operator {
	t.Helper()
	return startOperatorFor(t, []string{namespace}, labels.Everything(), options...)
}

// startOperatorFor runs an operator for some namespaces and some Darkrooms of them.
func startOperatorFor(t testing.TB, namespaces []string, darkrooms labels.Selector, options ...operatorOption) *operator {
	t.Helper()
	return startManager(t, namespaces, darkrooms, func(*manager.Options) {}, options...)
}

// startManager is startOperatorFor with a manager of other options.
func startManager(t testing.TB, namespaces []string, darkrooms labels.Selector, adjust func(*manager.Options), options ...operatorOption) *operator {
	t.Helper()
	chrt, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	settings := controller.Options{
		Chart:                   chrt,
		Values:                  values.Options{BaseDomain: baseDomain},
		Namespaces:              namespaces,
		MaxConcurrentReconciles: 2,
		MaxHistory:              3,
		// Tests count requests; those of optional resources ask more often.
		DiscoveryPeriod: time.Hour,
	}
	o := &operator{t: t, ended: make(chan error, 1), requests: &requestCounter{}}
	kubeconfig := rest.CopyConfig(cluster)
	kubeconfig.Wrap(o.requests.wrap)
	for _, option := range options {
		option(&settings, kubeconfig)
	}
	settings.Cluster = discovered(t, kubeconfig)
	mgr := newManager(t, settings.Cluster, kubeconfig, namespaces, darkrooms, adjust)
	o.manager = mgr
	ctx, cancel := context.WithCancel(context.Background())
	o.stop = cancel
	if err := controller.Add(ctx, mgr, settings); err != nil {
		t.Fatal(err)
	}
	go func() { o.ended <- mgr.Start(ctx) }()
	t.Cleanup(o.kill)
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the caches were not filled")
	}
	return o
}

// discovered is what the API server serves.
func discovered(t testing.TB, kubeconfig *rest.Config) *controller.Cluster {
	t.Helper()
	api, err := discovery.NewDiscoveryClientForConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	found, err := controller.Discover(t.Context(), api)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// newManager makes a manager whose caches are limited as an operator's are.
func newManager(t testing.TB, served *controller.Cluster, kubeconfig *rest.Config, namespaces []string, darkrooms labels.Selector, adjust ...func(*manager.Options)) manager.Manager {
	t.Helper()
	caches, err := controller.CacheOptions(served, namespaces, darkrooms)
	if err != nil {
		t.Fatal(err)
	}
	options := manager.Options{
		Scheme:                  controller.NewScheme(),
		Cache:                   caches,
		Controller:              config.Controller{SkipNameValidation: ptr.To(true)},
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		GracefulShutdownTimeout: ptr.To(5 * time.Second),
	}
	for _, change := range adjust {
		change(&options)
	}
	mgr, err := ctrl.NewManager(kubeconfig, options)
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// kill ends the operator and waits until it is gone.
func (o *operator) kill() {
	o.stop()
	err := <-o.ended
	o.ended <- nil
	if err != nil && !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "grace period") {
		o.t.Logf("operator ended: %v", err)
	}
}

// requestCounter counts requests, watches left out.
type requestCounter struct {
	count  atomic.Int64
	writes atomic.Int64
}

func (c *requestCounter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.URL.Query().Get("watch") == "" {
			c.count.Add(1)
			if request.Method != http.MethodGet {
				c.writes.Add(1)
			}
		}
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// newNamespace makes a namespace for a test. (Without controllers it is never
// gone, so its name is new each time.)
func newNamespace(t testing.TB) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	create(t, namespace)
	return namespace.Name
}

func create(t testing.TB, object client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T: %v", object, err)
	}
}

func remove(t testing.TB, object client.Object, options ...client.DeleteOption) {
	t.Helper()
	if err := kube.Delete(t.Context(), object, options...); err != nil {
		t.Fatalf("delete %T: %v", object, err)
	}
}

func webFolder(namespace, name string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.DarkroomSpec{
			Source:     v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: "https://example.com/images"},
			SubDomains: []string{name},
		},
	}
}

// startWithPhotos starts an operator for a namespace of its own, where it has installed
// the Darkroom photos, of a web folder unless it is changed before it is created.
func startWithPhotos(t testing.TB, changes ...func(*v1alpha1.Darkroom)) (*operator, *v1alpha1.Darkroom) {
	t.Helper()
	namespace := newNamespace(t)
	started := startOperator(t, namespace)
	darkroom := webFolder(namespace, "photos")
	for _, change := range changes {
		change(darkroom)
	}
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "photos"))
	return started, darkroom
}

// eventually waits until a check finds nothing wrong.
func eventually(t testing.TB, what string, check func(context.Context) error) {
	t.Helper()
	deadline := time.Now().Add(waitTimeout)
	for {
		err := check(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: still not after %s: %v", what, waitTimeout, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// get reads an object again.
func get[T client.Object](ctx context.Context, object T, namespace, name string) (T, error) {
	err := kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	return object, err
}

func mustGet[T client.Object](t testing.TB, object T, namespace, name string) T {
	t.Helper()
	object, err := get(t.Context(), object, namespace, name)
	if err != nil {
		t.Fatalf("get %T %s/%s: %v", object, namespace, name, err)
	}
	return object
}

// configuration reads the ConfigMap that the pods of a Darkroom read.
func configuration(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	deployment, err := get(ctx, &appsv1.Deployment{}, namespace, name)
	if err != nil {
		return nil, err
	}
	return get(ctx, &corev1.ConfigMap{}, namespace, deployment.Spec.Template.Spec.Containers[0].EnvFrom[0].ConfigMapRef.Name)
}

func mustConfig(t *testing.T, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	found, err := configuration(t.Context(), namespace, name)
	if err != nil {
		t.Fatalf("configuration of %s/%s: %v", namespace, name, err)
	}
	return found
}

// change applies a change to an object as it is now.
func change[T client.Object](t *testing.T, object T, mutate func(T)) {
	t.Helper()
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	before := object.DeepCopyObject().(client.Object)
	mutate(object)
	if err := kube.Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
		t.Fatalf("change %T %s: %v", object, client.ObjectKeyFromObject(object), err)
	}
}

// eventuallyStatus waits for what the status of a Darkroom says of its current generation.
func eventuallyStatus(t testing.TB, darkroom *v1alpha1.Darkroom, what string, check func(v1alpha1.DarkroomStatus) error) {
	t.Helper()
	eventually(t, what, func(ctx context.Context) error {
		now, err := get(ctx, &v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name)
		if err != nil {
			return err
		}
		if now.Status.ObservedGeneration != now.Generation {
			return fmt.Errorf("the status speaks of generation %d, not %d", now.Status.ObservedGeneration, now.Generation)
		}
		return check(now.Status)
	})
}

// eventuallyCondition waits until a condition of the current generation has a status and a reason.
func eventuallyCondition(t testing.TB, darkroom *v1alpha1.Darkroom, what, conditionType string, want metav1.ConditionStatus, reason string) {
	t.Helper()
	eventuallyStatus(t, darkroom, what, func(status v1alpha1.DarkroomStatus) error {
		return condition(status, conditionType, want, reason)
	})
}

// says returns an error unless the message of a status has a text, and Ready is False for a reason;
// empty for any.
func says(text, reason string) func(v1alpha1.DarkroomStatus) error {
	return func(status v1alpha1.DarkroomStatus) error {
		if !strings.Contains(status.Message, text) {
			return fmt.Errorf("message is %q", status.Message)
		}
		if reason == "" {
			return nil
		}
		return condition(status, v1alpha1.ConditionReady, metav1.ConditionFalse, reason)
	}
}

// absent returns an error while an object is there.
func absent(object client.Object, namespace, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		if _, err := get(ctx, object, namespace, name); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%T %s is still there (%w)", object, name, err)
		}
		return nil
	}
}

// installed returns an error unless the release of the current generation is there.
func installed(namespace, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		darkroom, err := get(ctx, &v1alpha1.Darkroom{}, namespace, name)
		if err != nil {
			return err
		}
		deployed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionDeployed)
		failed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReleaseFailed)
		if deployed == nil || deployed.Status != metav1.ConditionTrue || deployed.ObservedGeneration != darkroom.Generation ||
			failed == nil || failed.Status != metav1.ConditionFalse {
			return fmt.Errorf("conditions are %+v", darkroom.Status.Conditions)
		}
		return nil
	}
}

// condition returns an error unless a condition has a status and a reason.
func condition(status v1alpha1.DarkroomStatus, conditionType string, want metav1.ConditionStatus, reason string) error {
	found := v1alpha1.FindCondition(status.Conditions, conditionType)
	if found == nil || found.Status != want || found.Reason != reason {
		return fmt.Errorf("condition %s is %+v, want %s with reason %s", conditionType, found, want, reason)
	}
	return nil
}
