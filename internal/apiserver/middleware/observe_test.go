package middleware

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func TestRequestsAreCountedAndLogged(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /darkrooms", respond(http.StatusOK))
	mux.Handle("POST /darkrooms", respond(http.StatusCreated))
	mux.HandleFunc("GET /broken", func(w http.ResponseWriter, r *http.Request) {
		SetUser(r.Context(), "ada")
		SetError(r.Context(), errors.New("etcd is gone"))
		w.WriteHeader(http.StatusInternalServerError)
	})
	mux.Handle("GET /readyz", respond(http.StatusServiceUnavailable))
	mux.Handle("GET /stream", respond(http.StatusOK))
	routes := Routes{"GET /stream": {Streams: true}, "GET /readyz": {Probe: true}}

	for name, c := range map[string]struct {
		method, path, route, code string
		// log contains parts of the expected log without debug messages.
		log []string
		// untimed requests are not in the histogram.
		untimed bool
	}{
		"a read": {method: "GET", path: "/darkrooms?token=secret", route: "GET /darkrooms", code: "200"},
		"a write": {
			method: "POST", path: "/darkrooms?token=secret", route: "POST /darkrooms", code: "201",
			log: []string{`"path"="/darkrooms"`, `"status"=201`},
		},
		"an error": {
			method: "GET", path: "/broken", route: "GET /broken", code: "500",
			log: []string{"etcd is gone", `"status"=500`, `"user"="ada"`},
		},
		"a probe that fails":     {method: "GET", path: "/readyz", route: "GET /readyz", code: "503"},
		"a stream":               {method: "GET", path: "/stream", route: "GET /stream", code: "200", untimed: true},
		"a path without a route": {method: "GET", path: "/nothing", route: "none", code: "404"},
	} {
		t.Run(name, func(t *testing.T) {
			var logged strings.Builder
			log := funcr.New(func(_, args string) { logged.WriteString(args + "\n") }, funcr.Options{})
			registry := prometheus.NewRegistry()
			handler := Observe(log, NewMetrics(registry), routes, Router(mux, routes))
			call(handler, httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil))

			metrics := get(t, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), "/metrics").Body.String()
			if want := fmt.Sprintf("darkroom_apiserver_requests_total{code=%q,route=%q} 1\n", c.code,
				c.route); !strings.Contains(metrics, want) {
				t.Errorf("want %s among the metrics:\n%s", want, metrics)
			}
			want := fmt.Sprintf("darkroom_apiserver_request_duration_seconds_count{route=%q} 1\n", c.route)
			if timed := strings.Contains(metrics, want); timed == c.untimed {
				t.Errorf("its duration is recorded: %t\n%s", timed, metrics)
			}
			if (logged.Len() > 0) != (c.log != nil) || strings.Contains(logged.String(), "secret") {
				t.Errorf("logs %q", &logged)
			}
			for _, want := range c.log {
				if !strings.Contains(logged.String(), want) {
					t.Errorf("the log lacks %s: %s", want, &logged)
				}
			}
		})
	}
}
