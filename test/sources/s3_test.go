package main

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func startS3(t *testing.T) *httptest.Server {
	t.Helper()
	env := map[string]string{"S3_ACCESS_KEY": "key", "S3_SECRET_KEY": "secret"}
	_, handler, err := s3Command(nil, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// ask sends a request signed with secret; host may be empty for the server's own.
func ask(t *testing.T, server *httptest.Server, method, host, path, secret string) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	request.Header.Set("X-Amz-Content-Sha256", emptyHash)
	err = v4.NewSigner().SignHTTP(t.Context(), aws.Credentials{AccessKeyID: "key", SecretAccessKey: secret},
		request, emptyHash, "s3", "eu-west-2", time.Now(), func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

func TestTheBucketServesHoldersOfTheKey(t *testing.T) {
	server := startS3(t)
	for name, test := range map[string]struct {
		method, host, path, secret string
		want                       int
		code                       string
	}{
		"path style":           {path: "/my_photos/images/sample.png", secret: "secret", want: 200},
		"another folder":       {path: "/my_photos/uploads/sample.jpg", secret: "secret", want: 200},
		"virtual-host style":   {host: "my_photos.s3.test", path: "/images/sample.png", secret: "secret", want: 200},
		"head":                 {method: http.MethodHead, path: "/my_photos/images/sample.png", secret: "secret", want: 200},
		"wrong key":            {path: "/my_photos/images/sample.png", secret: "wrong", want: 403, code: "SignatureDoesNotMatch"},
		"wrong key by head":    {method: http.MethodHead, path: "/my_photos/images/sample.png", secret: "wrong", want: 403},
		"no such object":       {path: "/my_photos/images/none.png", secret: "secret", want: 404, code: "NoSuchKey"},
		"no such bucket":       {path: "/photos/images/sample.png", secret: "secret", want: 404, code: "NoSuchBucket"},
		"a write":              {method: http.MethodPut, path: "/my_photos/x.png", secret: "secret", want: 405, code: "MethodNotAllowed"},
		"wrong key, no bucket": {path: "/photos/images/sample.png", secret: "wrong", want: 403, code: "SignatureDoesNotMatch"},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := ask(t, server, orElse(test.method, http.MethodGet), test.host, test.path, test.secret)
			if response.StatusCode != test.want {
				t.Fatalf("status %d, want %d: %s", response.StatusCode, test.want, body)
			}
			if test.code == "" {
				return
			}
			var answer struct{ Code string }
			if err := xml.Unmarshal(body, &answer); err != nil || answer.Code != test.code {
				t.Errorf("error code %q (%v), want %q", answer.Code, err, test.code)
			}
		})
	}
}

func TestAnS3ServerWithoutKeysDoesNotStart(t *testing.T) {
	noEnv := func(string) string { return "" }
	for _, args := range [][]string{nil, {"--access-key", "key"}, {"--secret-key", "secret"}} {
		if _, _, err := s3Command(args, noEnv); err == nil {
			t.Errorf("started with %q", args)
		}
	}
	if _, _, err := s3Command([]string{"--access-key", "key", "--secret-key", "secret"}, noEnv); err != nil {
		t.Errorf("both keys given: %v", err)
	}
}
