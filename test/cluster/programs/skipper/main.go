// Command skipper is the ingress controller of a cluster, with the parts of Skipper that
// route Ingresses: its whole program, with policies, scripts and tracers, takes three times
// as long to compile.
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/zalando/skipper/dataclients/kubernetes"
	"github.com/zalando/skipper/loadbalancer"
	"github.com/zalando/skipper/predicates/primitive"
	"github.com/zalando/skipper/proxy"
	"github.com/zalando/skipper/routing"
)

const (
	// pollPeriod is the interval at which changes are read. A pod that ends must be noticed
	// well before it stops listening, or a rollout loses requests.
	pollPeriod = 250 * time.Millisecond
	// dialTimeout bounds the connection to a pod.
	dialTimeout = 10 * time.Second
	// headerTimeout bounds the time in which a client sends the headers of its request.
	headerTimeout = time.Minute
	// stopTimeout is the time that requests have to end when the controller stops.
	stopTimeout = 5 * time.Second
)

func main() {
	address := flag.String("address", "127.0.0.1:9999", "address at which requests are served")
	url := flag.String("kubernetes-url", "", "URL of the API server")
	tokenFile := flag.String("kubernetes-token-file", "", "file with the token for the API server")
	class := flag.String("kubernetes-ingress-class", "", "regular expression of the classes of the Ingresses; those without a class are always served")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *address, kubernetes.Options{
		KubernetesURL: *url,
		TokenFile:     *tokenFile,
		IngressClass:  *class,
		// EndpointSlices distinguish ready pods from those that are ending.
		KubernetesEnableEndpointslices: true,
		DefaultLoadBalancerAlgorithm:   kubernetes.DefaultLoadBalancerAlgorithm,
	}); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address string, options kubernetes.Options) error {
	client, err := kubernetes.New(options)
	if err != nil {
		return err
	}
	defer client.Close()
	endpoints := routing.NewEndpointRegistry(routing.RegistryOptions{})
	defer endpoints.Close()
	routes := routing.New(routing.Options{
		DataClients:     []routing.DataClient{client},
		FilterRegistry:  unavailable(),
		Predicates:      []routing.PredicateSpec{primitive.NewTrue(), primitive.NewFalse()},
		PollTimeout:     pollPeriod,
		PostProcessors:  []routing.PostProcessor{loadbalancer.NewAlgorithmProvider(), endpoints},
		SignalFirstLoad: true,
	})
	defer routes.Close()
	proxied := proxy.WithParams(proxy.Params{
		Routing:           routes,
		EndpointRegistry:  endpoints,
		Timeout:           dialTimeout,
		AccessLogDisabled: true,
	})
	defer proxied.Close()

	select {
	case <-routes.FirstLoad():
	case <-ctx.Done():
		return nil
	}
	server := &http.Server{Addr: address, Handler: proxied, ReadHeaderTimeout: headerTimeout}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return server.Shutdown(stopping)
}
