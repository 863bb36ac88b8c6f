package cmd

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// eachDarkroom returns metrics of one Darkroom.
func eachDarkroom() *metrics.Darkrooms {
	return &metrics.Darkrooms{
		Cache: fake.NewClientBuilder().WithScheme(controller.NewScheme()).WithObjects(darkrooms.New("photos", "team-a").Obj()).Build(),
		Leads: func() bool { return true },
	}
}

// scrape returns the response of the handler that a filter makes of the process' metrics.
func scrape(t *testing.T, provider filterProvider, authorization string) (code int, body string) {
	t.Helper()
	filter, err := provider(&rest.Config{}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := filter(logr.Discard(), http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(response, "process 1\n")
	}))
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Authorization", authorization)
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.String()
}

func TestMetricsOfDarkroomsAreServedAsTheFlagsSay(t *testing.T) {
	for _, test := range []struct {
		flags []string
		// filtered reports whether the response goes through a filter at all.
		filtered, each bool
	}{
		{flags: []string{"--metrics-secure=false"}, filtered: true, each: true},
		{flags: []string{"--metrics-secure=false", "--metrics-per-darkroom=false"}},
		{flags: []string{"--metrics-secure=true", "--metrics-per-darkroom=false"}, filtered: true},
	} {
		options := &managerOptions{}
		flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
		options.addFlags(flags)
		if err := flags.Parse(test.flags); err != nil {
			t.Fatal(err)
		}
		var each *metrics.Darkrooms
		if options.metricsPerDarkroom {
			each = eachDarkroom()
		}
		served := options.metrics(each)
		if filtered := served.FilterProvider != nil; filtered != test.filtered {
			t.Errorf("%q: filtered: %t", test.flags, filtered)
		}
		if !test.each {
			continue
		}
		code, body := scrape(t, served.FilterProvider, "")
		if want := "process 1\n"; code != http.StatusOK || !strings.HasPrefix(body, want) || !strings.Contains(body, `darkroom_info{namespace="team-a",name="photos"`) {
			t.Errorf("%q: HTTP %d:\n%s", test.flags, code, body)
		}
	}
}

func TestMetricsOfDarkroomsNeedTheAuthorizationOfTheServer(t *testing.T) {
	denying := func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
		return func(_ logr.Logger, handler http.Handler) (http.Handler, error) {
			return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
				if request.Header.Get("Authorization") != "Bearer prometheus" {
					http.Error(response, "denied", http.StatusForbidden)
					return
				}
				handler.ServeHTTP(response, request)
			}), nil
		}, nil
	}
	provider := serving(eachDarkroom(), denying)
	code, body := scrape(t, provider, "Bearer other")
	if diff := cmp.Diff("denied\n", body); diff != "" || code != http.StatusForbidden {
		t.Errorf("HTTP %d (-want +got):\n%s", code, diff)
	}
	if code, body = scrape(t, provider, "Bearer prometheus"); code != http.StatusOK || !strings.Contains(body, "darkroom_info") {
		t.Errorf("HTTP %d:\n%s", code, body)
	}

	failure := errors.New("no client")
	_, err := serving(eachDarkroom(), func(*rest.Config, *http.Client) (metricsserver.Filter, error) { return nil, failure })(nil, nil)
	if !errors.Is(err, failure) {
		t.Errorf("got the error %v", err)
	}
}
