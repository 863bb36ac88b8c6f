package cmd

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	controllermetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"

	"github.com/darkroom-operator/darkroom-operator/internal/listen"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
)

// addListeners adds the servers for health, metrics and profiles to a manager. The servers of controller-runtime limit
// neither the number of connections nor the size of headers, so any client that can reach their ports could exhaust the
// memory of the manager.
func (o *managerOptions) addListeners(ctx context.Context, mgr manager.Manager, darkrooms *metrics.Darkrooms) error {
	if isOn(o.healthAddress) {
		if err := addServer(ctx, mgr, "health", o.healthAddress, health(mgr), nil); err != nil {
			return err
		}
	}
	if isOn(o.pprofAddress) {
		if err := addServer(ctx, mgr, "pprof", o.pprofAddress, profiles(), nil); err != nil {
			return err
		}
	}
	if !isOn(o.metricsAddress) {
		return nil
	}
	handler, err := o.metrics(mgr.GetConfig(), mgr.GetHTTPClient(), darkrooms)
	if err != nil {
		return err
	}
	var encryption *tls.Config
	if o.metricsSecure {
		if encryption, err = o.metricsTLS(mgr); err != nil {
			return err
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", handler)
	return addServer(ctx, mgr, "metrics", o.metricsAddress, mux, encryption)
}

// isOn reports whether the address of a server does not disable it.
func isOn(address string) bool { return address != "" && address != "0" }

// addServer listens on an address and adds a server that starts with the manager.
func addServer(
	ctx context.Context, mgr manager.Manager, name, address string, handler http.Handler, encryption *tls.Config,
) error {
	listener, err := listen.Small(ctx, address)
	if err != nil {
		return fmt.Errorf("serve %s: %w", name, err)
	}
	if encryption != nil {
		listener = tls.NewListener(listener, encryption)
	}
	server := listen.SmallServer(handler)
	if name == "pprof" {
		// The request sets the duration of a profile. The documentation recommends a loopback address.
		server.WriteTimeout = 0
	}
	return mgr.Add(&manager.Server{Name: name, Server: server, Listener: listener})
}

func health(mgr manager.Manager) http.Handler {
	mux := http.NewServeMux()
	for path, check := range map[string]healthz.Checker{"/healthz": healthz.Ping, "/readyz": cachesSynced(mgr)} {
		handler := http.StripPrefix(path, &healthz.Handler{Checks: map[string]healthz.Checker{"check": check}})
		mux.Handle(path, handler)
		mux.Handle(path+"/", handler)
	}
	return mux
}

func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// metrics returns the handler for all metrics, including the metrics of Darkrooms.
func (o *managerOptions) metrics(
	kubeconfig *rest.Config, httpClient *http.Client, darkrooms *metrics.Darkrooms,
) (http.Handler, error) {
	handler := darkrooms.Handler(controllermetrics.Registry)
	if !o.metricsSecure {
		return handler, nil
	}
	authorize, err := filters.WithAuthenticationAndAuthorization(kubeconfig, httpClient)
	if err != nil {
		return nil, fmt.Errorf("authorize readers of metrics: %w", err)
	}
	return authorize(ctrl.Log.WithName("metrics"), handler)
}

// metricsTLS returns the TLS configuration of the metrics server, with the configured certificate, which is reloaded when
// it changes, or a self-signed certificate.
func (o *managerOptions) metricsTLS(mgr manager.Manager) (*tls.Config, error) {
	// HTTP/2 is disabled: the server does not need it, and it has had denial-of-service vulnerabilities (CVE-2023-44487).
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	certificate, key := filepath.Join(o.metricsCertDir, "tls.crt"), filepath.Join(o.metricsCertDir, "tls.key")
	if o.metricsCertDir != "" && exists(certificate) && exists(key) {
		watcher, err := certwatcher.New(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("--metrics-cert-dir=%s: %w", o.metricsCertDir, err)
		}
		config.GetCertificate = watcher.GetCertificate
		return config, mgr.Add(watcher)
	}
	certPEM, keyPEM, err := certutil.GenerateSelfSignedCertKeyWithFixtures("localhost", []net.IP{{127, 0, 0, 1}}, nil, "")
	if err != nil {
		return nil, fmt.Errorf("create certificate for metrics: %w", err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("create certificate for metrics: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
