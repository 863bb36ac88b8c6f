package metrics

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

const (
	// scrapeTime is the longest time of a scrape of fleetSize Darkrooms. It was measured as
	// 107 to 121 ms on a busy machine with two cores, and 18 MiB.
	scrapeTime = 200 * time.Millisecond
	// scrapeBytes is the most that such a scrape may allocate; the caches of these
	// Darkrooms take some hundred MiB.
	scrapeBytes = 24 << 20
	fleetSize   = 10_000
)

// fleetServer serves the metrics of many Darkrooms, each with eight conditions, a
// Deployment and a probe, from a cache as the manager has it.
func fleetServer(tb testing.TB, size int) http.Handler {
	tb.Helper()
	scheme := testScheme(tb)
	fleet, deployments := &v1alpha1.DarkroomList{}, &appsv1.DeploymentList{}
	for i := range size {
		builder := darkrooms.New(fmt.Sprintf("photos-%05d", i), fmt.Sprintf("team-%03d", i%200)).UID(types.UID(fmt.Sprint(i)))
		for _, condition := range []string{
			v1alpha1.ConditionReady, v1alpha1.ConditionDomainsReady, v1alpha1.ConditionCredentialsReady, v1alpha1.ConditionSourceReady,
			v1alpha1.ConditionInitialized, v1alpha1.ConditionDeployed, v1alpha1.ConditionReleaseFailed, v1alpha1.ConditionIrreconcilable,
		} {
			builder.Condition(v1alpha1.Condition{Type: condition, Status: metav1.ConditionTrue})
		}
		darkroom := builder.Obj()
		darkroom.Status.Version = "v0.4.2"
		fleet.Items = append(fleet.Items, *darkroom)
		deployments.Items = append(deployments.Items, *deploymentOf(darkroom, ptr.To(int32(2)), 2, 2))
	}
	mapper := meta.NewDefaultRESTMapper(scheme.PrioritizedVersionsAllGroups())
	mapper.Add(v1alpha1.GroupVersionKind, meta.RESTScopeNamespace)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	caches, err := cache.New(&rest.Config{}, cache.Options{
		Scheme: scheme, Mapper: mapper, HTTPClient: http.DefaultClient,
		NewInformer: func(_ toolscache.ListerWatcher, object apiruntime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			source := &toolscache.ListWatch{
				ListWithContextFunc: func(context.Context, metav1.ListOptions) (apiruntime.Object, error) {
					if _, ok := object.(*v1alpha1.Darkroom); ok {
						return fleet, nil
					}
					return deployments, nil
				},
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
			}
			return toolscache.NewSharedIndexInformer(toolscache.ToListWatcherWithWatchListSemantics(source, unsupported{}), object, resync, indexers)
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- caches.Start(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	for _, object := range []client.Object{&v1alpha1.Darkroom{}, &appsv1.Deployment{}} {
		if _, err := caches.GetInformer(ctx, object); err != nil {
			tb.Fatal(err)
		}
	}
	if !caches.WaitForCacheSync(ctx) {
		tb.Fatal("the caches are not filled")
	}

	leads := func() bool { return true }
	registry := prometheus.NewRegistry()
	if err := New("1", "2").Register(registry, &Fleet{Darkrooms: caches, Leads: leads}); err != nil {
		tb.Fatal(err)
	}
	reported := &Darkrooms{Cache: caches, Leads: leads, Probe: func(types.NamespacedName) (probe.Sample, bool) {
		return probe.Sample{Served: true, Duration: 20 * time.Millisecond}, true
	}}
	return reported.Handler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
}

// unsupported marks the list as one that cannot be streamed.
type unsupported struct{}

// IsWatchListSemanticsUnSupported implements the interface of client-go.
func (unsupported) IsWatchListSemanticsUnSupported() bool { return true }

// scrapeOnce requests the metrics as Prometheus does, and returns their size.
func scrapeOnce(tb testing.TB, handler http.Handler, accepted string) int {
	tb.Helper()
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept-Encoding", accepted)
	response := &sink{header: http.Header{}}
	handler.ServeHTTP(response, request)
	if response.code != http.StatusOK && response.code != 0 {
		tb.Fatalf("HTTP %d", response.code)
	}
	return response.size
}

// sink is a response that is only counted, so that no memory of the test is measured.
type sink struct {
	header     http.Header
	code, size int
}

func (s *sink) Header() http.Header            { return s.header }
func (s *sink) WriteHeader(code int)           { s.code = code }
func (s *sink) Write(body []byte) (int, error) { s.size += len(body); return len(body), nil }

// BenchmarkScrape measures a scrape of 10,000 Darkrooms, from the cache to the response.
func BenchmarkScrape(b *testing.B) {
	handler := fleetServer(b, fleetSize)
	for _, encoding := range []string{"identity", "gzip"} {
		b.Run(encoding, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				size = scrapeOnce(b, handler, encoding)
			}
			b.ReportMetric(float64(size), "bytes/scrape")
		})
	}
}

// Processor time is measured: other processes share the machine, and that of an idle one
// passes as fast as its clock. It includes the compression and the garbage collector.
func TestAScrapeOfAFleetIsFastAndFrugal(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes it several times slower")
	}
	handler := fleetServer(t, fleetSize)
	body := httptest.NewRecorder()
	handler.ServeHTTP(body, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if got, want := strings.Count(body.Body.String(), "\ndarkroom_"), 14*fleetSize; got < want {
		t.Fatalf("got %d metrics, want at least %d", got, want)
	}
	fastest, least := time.Hour, ^uint64(0)
	var before, after runtime.MemStats
	for attempt := 0; attempt < 20 && (fastest > scrapeTime || least > scrapeBytes); attempt++ {
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := processorTime(t)
		scrapeOnce(t, handler, "gzip")
		fastest = min(fastest, processorTime(t)-began)
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	t.Logf("%s, %d MiB", fastest.Round(time.Millisecond), least>>20)
	if fastest > scrapeTime {
		t.Errorf("a scrape takes %s, want at most %s", fastest, scrapeTime)
	}
	if least > scrapeBytes {
		t.Errorf("a scrape allocates %d bytes, want at most %d", least, scrapeBytes)
	}
}

// processorTime is the time that all processors have spent on this process.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
