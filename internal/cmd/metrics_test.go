package cmd

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestMetricsOfDarkroomsNeedTheAuthorizationOfTheServer(t *testing.T) {
	darkrooms := &metrics.Darkrooms{
		Cache: fake.NewClientBuilder().WithScheme(controller.NewScheme()).WithObjects(darkrooms.New("photos", "team-a").Obj()).Build(),
		Leads: func() bool { return true },
	}
	for secure, code := range map[bool]int{false: http.StatusOK, true: http.StatusUnauthorized} {
		options := managerOptions{metricsSecure: secure}
		filter, err := options.metrics(darkrooms).FilterProvider(&rest.Config{Host: "https://127.0.0.1:1"}, http.DefaultClient)
		if err != nil {
			t.Fatal(err)
		}
		handler, err := filter(logr.Discard(), http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(response, "process 1\n")
		}))
		if err != nil {
			t.Fatal(err)
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		body := recorder.Body.String()
		if recorder.Code != code || strings.Contains(body, "process 1") == secure || strings.Contains(body, "darkroom_info") == secure {
			t.Errorf("secure: %t: HTTP %d:\n%s", secure, recorder.Code, body)
		}
	}
}
