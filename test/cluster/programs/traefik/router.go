package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog/log"
	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/middlewares/requestdecorator"
	muxer "github.com/traefik/traefik/v3/pkg/muxer/http"
	"github.com/traefik/traefik/v3/pkg/server/service/loadbalancer/wrr"
)

// router serves requests by the latest configuration.
type router struct {
	current   atomic.Pointer[muxer.Muxer]
	decorator *requestdecorator.RequestDecorator
	transport http.RoundTripper
}

func newRouter() *router {
	r := &router{
		decorator: requestdecorator.New(nil),
		// Traefik's default.
		transport: &http.Transport{MaxIdleConnsPerHost: 200},
	}
	r.current.Store(muxer.NewMuxer(muxer.SyntaxParser{}))
	return r
}

func (r *router) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	// The matchers read the host from the request's context.
	r.decorator.ServeHTTP(w, request, r.current.Load().ServeHTTP)
}

// follow applies configurations, at most one per period.
func (r *router) follow(messages <-chan dynamic.Message, period time.Duration) {
	for message := range messages {
		if err := r.apply(message.Configuration.HTTP); err != nil {
			log.Error().Err(err).Msg("A part of the configuration was not applied")
		}
		time.Sleep(period)
	}
}

// apply replaces the configuration.
func (r *router) apply(c *dynamic.HTTPConfiguration) error {
	parser, err := muxer.NewSyntaxParser()
	if err != nil {
		return err
	}
	next := muxer.NewMuxer(parser)
	var errs []error
	for name, route := range c.Routers {
		handler, err := r.service(c, route.Service)
		if err == nil && len(route.Middlewares) > 0 {
			err = errors.New("filters are not supported")
		}
		if err == nil {
			err = next.AddRoute(route.Rule, route.RuleSyntax, cmp.Or(route.Priority, muxer.GetRulePriority(route.Rule)), handler)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("router %s: %w", name, err))
		}
	}
	r.current.Store(next)
	return errors.Join(errs...)
}

// service returns the handler of a service that balances its servers or services.
func (r *router) service(c *dynamic.HTTPConfiguration, name string) (http.Handler, error) {
	service, found := c.Services[name]
	if !found {
		return nil, fmt.Errorf("no service %s", name)
	}
	balancer := wrr.New(nil, false)
	switch {
	case service.Weighted != nil:
		for _, child := range service.Weighted.Services {
			handler := http.Handler(status(child.Status))
			if child.Status == nil {
				var err error
				if handler, err = r.service(c, child.Name); err != nil {
					return nil, err
				}
			}
			balancer.Add(child.Name, handler, child.Weight, false)
		}
	case service.LoadBalancer != nil:
		for _, server := range service.LoadBalancer.Servers {
			target, err := url.Parse(server.URL)
			if err != nil {
				return nil, fmt.Errorf("server of service %s: %w", name, err)
			}
			balancer.AddServer(server.URL, r.proxy(target), server)
		}
	default:
		return nil, fmt.Errorf("service %s has an unsupported type", name)
	}
	return balancer, nil
}

func (r *router) proxy(target *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Transport: r.transport,
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			request.Out.Host = request.In.Host
			request.SetXForwarded()
		},
	}
}

// status responds with a status, as Traefik does for a backend that it cannot resolve.
func status(code *int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, http.StatusText(*code), *code)
	}
}
