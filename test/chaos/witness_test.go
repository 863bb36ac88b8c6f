//go:build chaos

package chaos

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

// witness is a proxy in front of the API server that records the writes of one
// operator, across its restarts.
type witness struct {
	// kubeconfig has the rights of the operator's ServiceAccount, and leads here.
	kubeconfig string
	transport  http.RoundTripper

	mu     sync.Mutex
	writes []write
}

// write is a request of the operator that succeeded.
type write struct {
	began, ended time.Time
	method       string
	// path is that of the request, without a query.
	path string
}

func (w write) String() string {
	return fmt.Sprintf("%s %s at %s", w.method, w.path, w.ended.Format("15:04:05.000"))
}

// of reports whether a write was made to an object, or to a subresource of it.
func (w write) of(resource string, key client.ObjectKey) bool {
	return strings.Contains(w.path+"/", "/namespaces/"+key.Namespace+"/"+resource+"/"+key.Name+"/")
}

// newWitness starts a witness that runs until the test ends.
func newWitness(t *testing.T, administrator *rest.Config) *witness {
	t.Helper()
	target, err := url.Parse(administrator.Host)
	if err != nil {
		t.Fatal(err)
	}
	// Callers bring their own tokens.
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(administrator))
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{kubeconfig: filepath.Join(scratch, "witnessed.kubeconfig"), transport: transport}
	server := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     w,
		FlushInterval: -1, // watches
		ErrorLog:      log.New(io.Discard, "", 0),
	})
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	config, err := access.As(t.Context(), administrator, client.ObjectKey{Namespace: operatorNamespace, Name: operatorAccount})
	if err != nil {
		t.Fatal(err)
	}
	config.Host = server.URL
	config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	config.CAFile = ""
	if err := access.WriteKubeconfig(config, operatorNamespace, w.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return w
}

// RoundTrip implements http.RoundTripper.
func (w *witness) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet {
		return w.transport.RoundTrip(request)
	}
	start := time.Now()
	// An operator that is killed does not wait for the answer, but the API server may
	// have carried the request out.
	response, err := w.transport.RoundTrip(request.WithContext(context.WithoutCancel(request.Context())))
	if err != nil || response.StatusCode >= http.StatusBadRequest || request.URL.Query().Has("dryRun") {
		return response, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, write{start, time.Now(), request.Method, request.URL.Path})
	return response, nil
}

// since returns the writes that began after a moment.
func (w *witness) since(moment time.Time) []write {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []write
	for _, write := range w.writes {
		if write.began.After(moment) {
			out = append(out, write)
		}
	}
	return out
}

func mustAdministrator(t *testing.T) *rest.Config {
	t.Helper()
	administrator, err := access.Administrator()
	if err != nil {
		t.Fatal(err)
	}
	return administrator
}
