package apiserver_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/util/cert"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func TestOptionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*apiserver.Options){
		"no cluster":   func(o *apiserver.Options) { o.Cluster = nil },
		"no preview":   func(o *apiserver.Options) { o.Preview = nil },
		"unknown auth": func(o *apiserver.Options) { o.Auth = "none" },
		"OIDC of a kubeconfig": func(o *apiserver.Options) {
			newSettings(t).use(t)(o)
			o.Auth, o.BindAddress = auth.Kubeconfig, "127.0.0.1:0"
		},
		"certificate alone": func(o *apiserver.Options) { o.TLSCertFile = "tls.crt" },
	} {
		settings := options(t)
		change(&settings)
		if _, err := apiserver.New(settings); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestServerIsReadyOnlyWhenItKnowsAll(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	s := startAt(t, listen(t), intercept(func(request *http.Request) error {
		select {
		case <-open:
			return nil
		case <-request.Context().Done():
			return request.Context().Err()
		}
	}))
	s.want(http.StatusServiceUnavailable, "", "GET", "/readyz", "")
	s.want(http.StatusOK, "", "GET", "/healthz", "")
	close(open)
	s.becomes(http.StatusOK, "", "GET", "/readyz", "")
}

// Darkrooms that the cache lacks would be reported as missing.
func TestNothingIsAnsweredFromAnIncompleteCache(t *testing.T) {
	t.Parallel()
	s := startAt(t, listen(t), intercept(func(request *http.Request) error {
		if request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, "/darkrooms") {
			return nil
		}
		<-request.Context().Done()
		return request.Context().Err()
	}))
	editor := newEditor(t, newNamespace(t))
	cacheless := []any{"signIn", "signOut", "getSignIn", "whoAmI", "getAccess", "getSettings"}
	for path, item := range document()["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			target := strings.NewReplacer("{namespace}", editor.namespace, "{name}", "photos", "{pod}", "photos-1").Replace(path)
			got, err := s.send(t.Context(), editor.token, strings.ToUpper(method), target, nil, "If-Match", "*")
			expect.NoError(t, err)
			got.Body.Close()
			isClosed := got.StatusCode == http.StatusServiceUnavailable
			if isClosed == slices.Contains(cacheless, operation.(map[string]any)["operationId"]) {
				t.Errorf("%s %s: %s", method, path, got.Status)
			}
		}
	}
}

func TestOneNamespaceAlone(t *testing.T) {
	t.Parallel()
	one, two := newNamespace(t), newNamespace(t)
	s := start(t, func(o *apiserver.Options) { o.Namespaces = []string{one} })
	both := newUser(t, one, "both")
	both.may(one, canEdit)
	both.may(two, append(canKeepSecrets, canEdit...))
	s.want(http.StatusCreated, both.token, "POST", "/darkrooms", webFolder(one, "photos"))
	if got := listed(t, s, both.token, ""); len(got) != 1 {
		t.Errorf("list is %q", got)
	}
	for _, one := range operations(t, two) {
		if slices.Contains([]string{"/session", "/settings", "/sign-in", "/access", "/access/namespaces", "/explain"},
			one.path) {
			continue // has no namespace, or is about permissions
		}
		target, body := one.filled(two)
		got := s.want(http.StatusNotFound, both.token, one.method, target, body, "If-Match", "*",
			"Content-Type", one.mediaType)
		if detail := problemOf(t, got).Detail; !strings.Contains(detail, "does not serve the namespace") {
			t.Errorf("%s %s: %s", one.method, target, detail)
		}
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	raw, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	expect.NoError(t, err)
	certFile, keyFile := file(t, raw), file(t, key)
	s := startAt(t, listen(t), func(o *apiserver.Options) { o.TLSCertFile, o.TLSKeyFile = certFile, keyFile })
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(raw)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	s.url, s.transport = strings.Replace(s.url, "http:", "https:", 1), transport
	if got := s.want(http.StatusOK, "", "GET", "/healthz", ""); got.header.Get("Strict-Transport-Security") == "" {
		t.Error("browsers may return without TLS")
	}
}
