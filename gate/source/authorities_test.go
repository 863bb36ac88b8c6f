package source

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

func TestASourceOfAPrivateAuthorityIsReadWithItsCertificates(t *testing.T) {
	server := httptest.NewTLSServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("image")) }),
	)
	t.Cleanup(server.Close)
	authorities := x509.NewCertPool()
	authorities.AddCert(server.Certificate())
	for _, config := range []Config{
		{Kind: "webfolder", BaseURL: server.URL},
		{Kind: "s3", Bucket: "photos", Region: "x", Endpoint: server.URL},
		{Kind: "gcs", Bucket: "photos", Endpoint: server.URL},
	} {
		public, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := read(t, public, "/a.jpg", original.Validators{}, 100); !problem.Is(err, problem.UpstreamFailed) {
			t.Errorf("%s: without the authority: %v", config.Kind, err)
		}
		config.Authorities = authorities
		private, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		if body, _, err := read(t, private, "/a.jpg", original.Validators{}, 100); err != nil || string(body) != "image" {
			t.Errorf("%s: %q %v", config.Kind, body, err)
		}
	}
}
