package darkroom

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

func TestResultsThatAreTooLargeAreRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, len(r.URL.RawQuery)))
	}))
	defer server.Close()
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	d := New(base, 10)
	if body, err := d.Transform(t.Context(), nil, "0123456789"); err != nil || len(body) != 10 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	_, err = d.Transform(t.Context(), nil, "0123456789a")
	if err == nil || !problem.Is(err, problem.TooLarge) {
		t.Errorf("a result of more than 10 bytes: %v", err)
	}
}

// Darkroom responds with 422 to images that it cannot decode, and to all requests after its source has failed.
func TestOnlyAnImageThatDarkroomHasReadIsRefused(t *testing.T) {
	for reads, want := range map[bool]problem.Kind{true: problem.Untransformable, false: problem.UpstreamFailed} {
		var d *Darkroom
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if reads {
				d.ServeHTTP(httptest.NewRecorder(), r)
			}
			w.WriteHeader(http.StatusUnprocessableEntity)
		}))
		base, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		d = New(base, 10)
		if _, err := d.Transform(t.Context(), nil, "blur=1"); !problem.Is(err, want) {
			t.Errorf("it has read the image: %t: %v, want %s", reads, err, want)
		}
		server.Close()
	}
}
