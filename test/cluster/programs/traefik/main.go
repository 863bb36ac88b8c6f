// Command traefik is the Gateway API controller of Traefik, or its ingress controller, with a
// small data plane.
//
// Traefik's providers watch Gateways and HTTPRoutes, whose status they write, or Ingresses, and
// translate them; Traefik's matchers and balancers route the requests. The rest of Traefik is omitted: it cannot be
// built from the module, which lacks the files of the dashboard, and would compile every other provider.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"
	zlog "github.com/rs/zerolog/log"
	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/provider"
	"github.com/traefik/traefik/v3/pkg/provider/kubernetes/gateway"
	"github.com/traefik/traefik/v3/pkg/provider/kubernetes/ingress"
	"github.com/traefik/traefik/v3/pkg/safe"
)

// Minimum times between two changes of the configuration: for Gateways the default of Traefik's
// providersThrottleDuration, for Ingresses the time of a fast controller.
const (
	gatewayThrottle = 2 * time.Second
	ingressThrottle = 250 * time.Millisecond
)

func main() {
	address := flag.String("address", "127.0.0.1:8000", "address that serves the Ingresses, or the listeners with port 80")
	ingresses := flag.Bool("ingress", false, "serve Ingresses instead of Gateways")
	flag.Parse()
	if err := run(*address, *ingresses); err != nil {
		log.Fatal(err)
	}
}

// run serves until the process ends. KUBECONFIG names the cluster.
func run(address string, ingresses bool) error {
	zlog.Logger = zerolog.New(os.Stderr).Level(zerolog.InfoLevel).With().Timestamp().Logger()
	zerolog.DefaultContextLogger = &zlog.Logger

	var controller provider.Provider = &gateway.Provider{
		EntryPoints: map[string]gateway.Entrypoint{"web": {Address: ":80"}},
	}
	throttle := gatewayThrottle
	if ingresses {
		controller, throttle = &ingress.Provider{AllowEmptyServices: true}, ingressThrottle
	}
	if err := controller.Init(); err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	messages := make(chan dynamic.Message)
	if err := controller.Provide(messages, safe.NewPool(context.Background())); err != nil {
		return fmt.Errorf("watch the cluster: %w", err)
	}
	router := newRouter()
	go router.follow(newest(messages), throttle)
	return http.ListenAndServe(address, router)
}

// newest returns a channel that contains only the newest message.
func newest(messages <-chan dynamic.Message) <-chan dynamic.Message {
	held := make(chan dynamic.Message, 1)
	go func() {
		for message := range messages {
			select {
			case <-held:
			default:
			}
			held <- message
		}
	}()
	return held
}
