// Command traefik is the Gateway API controller of Traefik with a small data plane.
//
// Traefik's provider watches Gateways and HTTPRoutes, writes their status and translates
// them; Traefik's matchers and balancers route the requests. The rest of Traefik is left
// out: it cannot be built from the module, which lacks the files of the dashboard, and
// would compile every other provider.
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
	"github.com/traefik/traefik/v3/pkg/provider/kubernetes/gateway"
	"github.com/traefik/traefik/v3/pkg/safe"
)

// throttle is the time between two changes of the configuration, as Traefik's
// providersThrottleDuration by default.
const throttle = 2 * time.Second

func main() {
	address := flag.String("address", "127.0.0.1:8000", "address that serves the listeners with port 80")
	flag.Parse()
	if err := run(*address); err != nil {
		log.Fatal(err)
	}
}

// run serves until the process ends. KUBECONFIG names the cluster.
func run(address string) error {
	zlog.Logger = zerolog.New(os.Stderr).Level(zerolog.InfoLevel).With().Timestamp().Logger()
	zerolog.DefaultContextLogger = &zlog.Logger

	provider := &gateway.Provider{EntryPoints: map[string]gateway.Entrypoint{"web": {Address: ":80"}}}
	if err := provider.Init(); err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	messages := make(chan dynamic.Message)
	if err := provider.Provide(messages, safe.NewPool(context.Background())); err != nil {
		return fmt.Errorf("watch the Gateways of the cluster: %w", err)
	}
	router := newRouter()
	go router.follow(newest(messages), throttle)
	return http.ListenAndServe(address, router)
}

// newest returns a channel that holds only the newest message.
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
