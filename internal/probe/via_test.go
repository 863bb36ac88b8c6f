package probe

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestProbesGoToTheAddressOfTheServiceOrThePod(t *testing.T) {
	address := strings.TrimPrefix(serve(t, answer(200, "image/png", encodedImage(t, "png", 16, 16))), "http://")
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	client, err := NewClientVia(ViaService, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]func(*Target){
		"the Service": func(target *Target) { target.Address = address },
		"a pod":       func(target *Target) { target.Pod = Pod{Name: "photos-1", IP: host, Port: port} },
	} {
		if got := client.ProbeDarkroom(t.Context(), photos, cat(to)); !got.Served() {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if got := client.ProbeDarkroom(t.Context(), photos, cat()); got.Reason != v1alpha1.ReasonUnreachable {
		t.Errorf("without an address: got %+v", got)
	}
	proxy, err := NewClientVia(ViaAPIServer, &rest.Config{Host: "https://api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if got := proxy.podAddress("team-a", Pod{Name: "photos-1", Port: "3000"}); got != "https://api.example.com/api/v1/namespaces/team-a/pods/http:photos-1:3000/proxy" {
		t.Errorf("through the API server: %s", got)
	}
}

// TestProbesThroughTheAPIServer has a fake of its proxy, which forwards the responses of
// Darkroom and sends its own as JSON.
func TestProbesThroughTheAPIServer(t *testing.T) {
	const refusal = `{"kind":"Status","message":"` + secret + `"}`
	body := encodedImage(t, "jpeg", 16, 11)
	for name, test := range map[string]struct {
		answer     http.HandlerFunc
		want, says string
	}{
		"an image":                    {answer(200, "image/jpeg", body), v1alpha1.ReasonImageServed, "image/jpeg"},
		"denied by the source":        {answer(403, "", nil), v1alpha1.ReasonSourceDenied, "HTTP 403."},
		"denied by the API server":    {answer(403, "application/json", []byte(refusal)), v1alpha1.ReasonProbeForbidden, "get on services/proxy and pods/proxy"},
		"a token that has run out":    {answer(401, "application/json", []byte(refusal)), v1alpha1.ReasonProbeForbidden, "get on services/proxy and pods/proxy"},
		"no endpoints":                {answer(503, "application/json", []byte(refusal)), v1alpha1.ReasonUnreachable, "HTTP 503 of the Kubernetes API server"},
		"no Service":                  {answer(404, "application/json", []byte(refusal)), v1alpha1.ReasonUnreachable, "HTTP 404 of the Kubernetes API server"},
		"no image, says the Darkroom": {answer(404, "text/plain", nil), v1alpha1.ReasonImageNotFound, "HTTP 404."},
	} {
		var path, token string
		address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path, token = r.RequestURI, r.Header.Get("Authorization")
			test.answer(w, r)
		}))
		client, err := NewClientVia(ViaAPIServer, &rest.Config{Host: address + "/clusters/one/", BearerToken: "token"})
		if err != nil {
			t.Fatal(err)
		}
		got := client.ProbeDarkroom(t.Context(), photos, cat())
		if got.Reason != test.want || !strings.Contains(got.Message, test.says) || strings.Contains(got.Message, secret) {
			t.Errorf("%s: %+v, want %s that says %q", name, got, test.want, test.says)
		}
		if want := "/clusters/one/api/v1/namespaces/team-a/services/http:photos:http/proxy/photos/cat.jpg?w=16"; path != want {
			t.Errorf("%s: asked for %s, want %s", name, path, want)
		}
		if token != "Bearer token" {
			t.Errorf("%s: authorized by %q", name, token)
		}
	}
}
