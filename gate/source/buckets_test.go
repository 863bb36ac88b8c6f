package source

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

func TestS3(t *testing.T) {
	server := serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=key/"):
			w.WriteHeader(http.StatusForbidden)
		case r.URL.EscapedPath() != "/my_photos/dir/%C3%A9%2B%281%29.jpg":
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Last-Modified", "Mon, 23 Nov 2026 20:00:00 GMT")
			_, _ = w.Write([]byte("image"))
		}
	})
	s, err := New(Config{
		Kind: "s3", Bucket: "my_photos", Region: "eu-west-2", AccessKey: "key",
		SecretKey: "secret", Endpoint: server.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	body, response, err := read(t, s, "/dir/é+(1).jpg", original.Validators{}, 100)
	if err != nil || string(body) != "image" || response.Length != 5 || response.Validators.ETag != `"1"` {
		t.Fatalf("%q %+v %v", body, response, err)
	}
	if _, again, err := read(t, s, "/dir/é+(1).jpg", response.Validators, 100); err != nil || !again.Unchanged {
		t.Errorf("%+v %v", again, err)
	}
	if _, _, err := read(t, s, "/none.jpg", original.Validators{}, 100); !problem.Is(err, problem.Missing) {
		t.Errorf("missing: %v", err)
	}
	denied, _ := New(Config{
		Kind: "s3", Bucket: "my_photos", Region: "eu-west-2", AccessKey: "other",
		SecretKey: "secret", Endpoint: server.URL,
	})
	if _, _, err := read(t, denied, "/dir/é+(1).jpg", original.Validators{}, 100); !problem.Is(err, problem.Forbidden) {
		t.Errorf("wrong key: %v", err)
	}
	server.Close()
	if _, _, err := read(t, s, "/dir/é+(1).jpg", original.Validators{}, 100); !problem.Is(err, problem.UpstreamFailed) {
		t.Errorf("down: %v", err)
	}
}

func TestCredentialsDoNotFollowRedirects(t *testing.T) {
	asked := 0
	other := serveFolder(t, func(http.ResponseWriter, *http.Request) { asked++ })
	server := serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusFound)
	})
	s, err := New(Config{
		Kind: "s3", Bucket: "photos", Region: "eu-west-2", AccessKey: "key",
		SecretKey: "secret", Endpoint: server.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(t, s, "/a.jpg", original.Validators{}, 100); !problem.Is(err, problem.UpstreamFailed) || asked != 0 {
		t.Errorf("%v, the other server received %d requests", err, asked)
	}
}

// serviceAccount returns a key whose tokens are issued at a URL.
func serviceAccount(t *testing.T, url string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, _ := x509.MarshalPKCS8PrivateKey(key)
	account, _ := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "a@example.com", "token_uri": url + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	return string(account)
}

func TestGoogleCloudStorageWithAServiceAccount(t *testing.T) {
	tokens := 0
	server := serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/token":
			tokens++
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token":"t","token_type":"Bearer","expires_in":3600}`))
		case r.Header.Get("Authorization") != "Bearer t":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path != "/photos/a.jpg":
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write([]byte("image"))
		}
	})
	s, err := New(Config{
		Kind: "gcs", Bucket: "photos", CredentialsJSON: serviceAccount(t, server.URL), Endpoint: server.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if body, _, err := read(t, s, "/a.jpg", original.Validators{}, 100); err != nil || string(body) != "image" {
			t.Errorf("%q %v", body, err)
		}
	}
	if tokens != 1 {
		t.Errorf("%d tokens for two requests", tokens)
	}
	public, _ := New(Config{Kind: "gcs", Bucket: "photos", Endpoint: server.URL})
	if _, _, err := read(t, public, "/a.jpg", original.Validators{}, 100); !problem.Is(err, problem.Forbidden) {
		t.Errorf("without credentials: %v", err)
	}
}

func TestSettingsThatCannotWorkAreErrors(t *testing.T) {
	for name, make := range map[string]func() (Source, error){
		"no scheme": func() (Source, error) { return New(Config{Kind: "webfolder", BaseURL: "example.com/images"}) },
		"no URL":    func() (Source, error) { return New(Config{Kind: "webfolder", BaseURL: ""}) },
		"no host":   func() (Source, error) { return New(Config{Kind: "webfolder", BaseURL: "https://"}) },
		"no bucket": func() (Source, error) { return New(Config{Kind: "s3", Region: "x"}) },
		"no region": func() (Source, error) { return New(Config{Kind: "s3", Bucket: "x"}) },
		"no GCS":    func() (Source, error) { return New(Config{Kind: "gcs"}) },
		"not JSON":  func() (Source, error) { return New(Config{Kind: "gcs", Bucket: "x", CredentialsJSON: "{"}) },
		"not a key": func() (Source, error) { return New(Config{Kind: "gcs", Bucket: "x", CredentialsJSON: "{}"}) },
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// If a token service does not complete its response, requests wait for at most the timeout of the source, no matter how
// many wait. The source itself is not late, so the status is 502 instead of 504.
func TestATokenIsNotWaitedForForever(t *testing.T) {
	if testing.Short() {
		t.Skip("waits ten seconds")
	}
	t.Parallel()
	server := serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	t.Cleanup(server.CloseClientConnections)
	s, err := New(Config{
		Kind: "gcs", Bucket: "photos", CredentialsJSON: serviceAccount(t, server.URL), Endpoint: server.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	const requests = 4
	failed, end := make(chan error, requests), time.After(2*Timeout)
	for range requests {
		go func() {
			_, err := s.Open(context.Background(), Request{Path: "/a.jpg"})
			failed <- err
		}()
	}
	for i := range requests {
		select {
		case err := <-failed:
			if !problem.Is(err, problem.UpstreamFailed) {
				t.Error(err)
			}
		case <-end:
			t.Fatalf("%d requests still wait", requests-i)
		}
	}
}
