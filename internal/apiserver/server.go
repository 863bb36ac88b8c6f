package apiserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	crcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/live"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/listen"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

const (
	// headerTimeout, readTimeout and answerTimeout limit the time of a request; streams and slow reviews set their own
	// deadlines.
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	answerTimeout = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
	// shutdownTimeout is the time limit for running requests to finish after a signal.
	shutdownTimeout = 20 * time.Second
	// ownQPS and ownBurst limit the requests to the cluster with the server's own identity. Each caller has a smaller
	// budget: see Options.QuestionsPerSecond.
	ownQPS, ownBurst = 100, 300
	// maxConnections limits the connections; it is higher than all limits of streams, logs and requests together.
	// maxUnknown limits the connections that have not authenticated yet.
	maxConnections, maxUnknown = 2048, 128
)

// Server serves the API. Create it with New and start it with Run.
type Server struct {
	options   Options
	log       logr.Logger
	kube      kubernetes.Interface
	auth      *auth.Authenticator
	cache     crcache.Cache
	darkrooms *live.Darkrooms
	metrics   *metrics
	decoder   *wire.Decoder
	handler   http.Handler
	limits    *limit.Callers

	definition *definition.Definition

	synced   func() bool
	stopping chan struct{}
}

// New returns a server. It returns an error for invalid options, and sends no requests.
func New(options Options) (*Server, error) {
	options.setDefaults()
	if options.Cluster == nil || options.Preview == nil {
		return nil, errors.New("cluster and preview are required")
	}
	if err := options.Validate(); err != nil {
		return nil, err
	}
	if options.Hosts == nil {
		translator, err := values.New(values.Options{BaseDomains: options.BaseDomains})
		if err != nil {
			return nil, err
		}
		options.Hosts = translator.Hosts
	}
	own := rest.CopyConfig(options.Cluster)
	own.QPS, own.Burst = ownQPS, ownBurst
	httpClient, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("make HTTP client: %w", err)
	}
	kube, err := kubernetes.NewForConfigAndClient(own, httpClient)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	s := &Server{
		options:   options,
		log:       options.Log,
		kube:      kube,
		darkrooms: live.NewDarkrooms(),
		limits:    limit.NewCallers(options.RequestsPerSecond, options.Burst),
		synced:    func() bool { return false },
		stopping:  make(chan struct{}),
	}
	s.metrics = newMetrics()
	if s.cache, err = live.NewCache(own, httpClient, options.Namespaces); err != nil {
		return nil, fmt.Errorf("create cache: %w", err)
	}
	if s.auth, err = auth.New(auth.Options{
		Cluster: own, HTTPClient: httpClient, Kube: kube, Method: options.Auth, OIDC: options.OIDC,
		TokenTTL: options.TokenTTL, AccessTTL: options.AccessTTL, SignInBurst: options.SignInBurst,
		QuestionsPerSecond: options.QuestionsPerSecond, QuestionBurst: options.QuestionBurst,
	}); err != nil {
		return nil, err
	}
	if s.definition, err = definition.New(); err != nil {
		return nil, err
	}
	if s.handler, err = s.newHandler(); err != nil {
		return nil, err
	}
	return s, nil
}

// serves reports whether a namespace is served.
func (s *Server) serves(namespace string) bool {
	return len(s.options.Namespaces) == 0 || slices.Contains(s.options.Namespaces, namespace)
}

// requireServed returns a problem for a namespace that is not served.
func (s *Server) requireServed(namespace string) error {
	if !s.serves(namespace) {
		return problem.New(http.StatusNotFound, fmt.Sprintf("this server does not serve the namespace %q, only %s", namespace,
			strings.Join(s.options.Namespaces, ", ")))
	}
	return nil
}

// Run listens and serves until the context is done.
func (s *Server) Run(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.options.BindAddress)
	if err != nil {
		return fmt.Errorf("listen at %s: %w", s.options.BindAddress, err)
	}
	return s.Serve(ctx, listener)
}

// Serve accepts connections until the context is done, and closes the listener. Running requests have shutdownTimeout
// to finish. Streams end at once, and their clients reconnect.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	group, ctx := errgroup.WithContext(ctx)
	synced, err := live.Feed(ctx, s.cache, s.darkrooms)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	s.synced = synced
	listener = listen.Bound(listener, listen.Limits{All: maxConnections, Unknown: maxUnknown})
	if listener, err = s.secure(ctx, group, listener); err != nil {
		return err
	}
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
	}
	listen.Attach(server)
	group.Go(func() error {
		if err := s.cache.Start(ctx); err != nil {
			return fmt.Errorf("watch Darkrooms: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve at %s: %w", listener.Addr(), err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		close(s.stopping)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return server.Shutdown(ending)
	})
	return group.Wait()
}

// secure adds TLS if a certificate is configured, and reloads the certificate when it changes.
func (s *Server) secure(ctx context.Context, group *errgroup.Group, listener net.Listener) (net.Listener, error) {
	if s.options.TLSCertFile == "" {
		return listener, nil
	}
	watcher, err := certwatcher.New(s.options.TLSCertFile, s.options.TLSKeyFile)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read certificate: %w", err), listener.Close())
	}
	group.Go(func() error { return watcher.Start(ctx) })
	return tls.NewListener(listener, &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: watcher.GetCertificate,
		// HTTP/2 is disabled, because the limits of this server are per connection.
		NextProtos: []string{"http/1.1"},
	}), nil
}
