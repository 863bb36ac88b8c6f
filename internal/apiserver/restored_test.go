package apiserver_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// TestARestoreOfTheClusterEndsTheServer: what the server knows would be older than the cluster until the
// counter of etcd has passed the version of its watch.
func TestARestoreOfTheClusterEndsTheServer(t *testing.T) {
	t.Parallel()
	var restored atomic.Bool
	settings := options(t)
	settings.VersionPeriod = 10 * time.Millisecond
	settings.Cluster = rest.CopyConfig(settings.Cluster)
	asked := make(chan struct{}, 1000)
	settings.Cluster.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.URL.Query().Get("limit") != "1" {
				return next.RoundTrip(request)
			}
			select {
			case asked <- struct{}{}:
			default:
			}
			if !restored.Load() {
				return next.RoundTrip(request)
			}
			const earlier = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(earlier)), Request: request,
			}, nil
		})
	})
	server, err := apiserver.New(settings)
	expect.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(t.Context(), listen(t)) }()
	for range 3 {
		select {
		case <-asked:
		case err := <-ended:
			t.Fatalf("ended without a restore: %v", err)
		}
	}
	restored.Store(true)
	if err := <-ended; !errors.Is(err, apiserver.ErrRestored) {
		t.Errorf("after a restore it ends with %v", err)
	}
}
