package charts

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// A restart does not fix a source that fails, so the startup probe never gives up.
func TestNewPodsServeTheImageBeforeTheyReceiveRequests(t *testing.T) {
	const values = `{probe: {path: /photos/cat.jpg, timeoutSeconds: 7}, startupProbe: null}`
	startup := containerOf(t, values).StartupProbe
	if startup == nil || startup.HTTPGet == nil {
		t.Fatalf("startup probe %v", startup)
	}
	if startup.HTTPGet.Path != "/photos/cat.jpg?w=16" || startup.HTTPGet.Port.StrVal != "http" {
		t.Errorf("requests %+v", startup.HTTPGet)
	}
	if startup.TimeoutSeconds != 7 || startup.PeriodSeconds != 2 || startup.FailureThreshold != math.MaxInt32 {
		t.Errorf("timing %+v", startup)
	}
	before, after := containerOf(t, ""), containerOf(t, values)
	for name, probes := range map[string][2]*corev1.Probe{
		"readiness": {before.ReadinessProbe, after.ReadinessProbe}, "liveness": {before.LivenessProbe, after.LivenessProbe},
	} {
		if diff := cmp.Diff(probes[0], probes[1]); diff != "" {
			t.Errorf("pods that serve depend on the image: %s probe\n%s", name, diff)
		}
	}
}

func TestTheKubeletAndTheOperatorRequestTheSameImage(t *testing.T) {
	for _, path := range []string{
		"/cat.jpg", "/photos/black cat.jpg", "/100%.jpg", "/a%20b.jpg", "/猫/é.png", "/a+b&c=d;e,f.jpg", "/a:b@c!$'()*~.jpg",
		`/"quoted"<>|\^{}[]` + "`.jpg", "/photos/", "/..photos/.cat",
	} {
		t.Run(path, func(t *testing.T) {
			var requested string
			darkroom := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requested = r.RequestURI }))
			defer darkroom.Close()
			probe.NewClient().Probe(t.Context(), darkroom.URL, probe.Target{Path: path, Timeout: time.Minute})

			values, err := json.Marshal(map[string]any{"probe": map[string]any{"path": path}})
			if err != nil {
				t.Fatal(err)
			}
			// The kubelet parses the path like this, so that it may have a query.
			kubelet, err := url.Parse(containerOf(t, string(values)).StartupProbe.HTTPGet.Path)
			if err != nil {
				t.Fatal(err)
			}
			if got := kubelet.RequestURI(); got != requested || got == "" {
				t.Errorf("the kubelet requests %q, the operator %q", got, requested)
			}
		})
	}
}
