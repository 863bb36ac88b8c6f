package source

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// inCloud sets the variables that a cloud adds to pods, and clears similar ones. Files are named by their content.
func inCloud(t *testing.T, environ map[string]string) {
	t.Helper()
	for _, name := range []string{
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_REGION", "AWS_ENDPOINT_URL_STS",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "GCE_METADATA_HOST",
	} {
		value := environ[name]
		if strings.HasSuffix(name, "_FILE") && value != "" {
			file := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
				t.Fatal(err)
			}
			value = file
		}
		t.Setenv(name, value)
	}
}

// standIn replaces the addresses of a cloud by loopback for a test.
func standIn(t *testing.T, addresses *[]netip.Addr) {
	t.Helper()
	before := *addresses
	t.Cleanup(func() { *addresses = before })
	*addresses = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
}

// bucketOf serves an image to requests that are signed with a key and its session token.
func bucketOf(t *testing.T, key, session string) *httptest.Server {
	t.Helper()
	return serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+key+"/") ||
			r.Header.Get("X-Amz-Security-Token") != session {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte("image"))
	})
}

func mustRead(t *testing.T, s Source) {
	t.Helper()
	if body, _, err := read(t, s, "/a.jpg", original.Validators{}, 100); err != nil || string(body) != "image" {
		t.Errorf("%q %v", body, err)
	}
}

func TestARoleForAServiceAccountIsAssumed(t *testing.T) {
	asked := 0
	sts := serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Method != http.MethodPost || r.FormValue("Action") != "AssumeRoleWithWebIdentity" ||
			r.FormValue("WebIdentityToken") != "token" ||
			r.FormValue("RoleArn") != "arn:aws:iam::1:role/photos" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
			<AssumeRoleWithWebIdentityResult><Credentials>
			<AccessKeyId>key</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken>
			<Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	inCloud(t, map[string]string{
		"AWS_WEB_IDENTITY_TOKEN_FILE": "token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/photos", "AWS_ENDPOINT_URL_STS": sts.URL,
	})
	s, err := New(Config{
		Kind: "s3", Bucket: "photos", Region: "eu-west-2", Endpoint: bucketOf(t, "key", "session").URL,
		WorkloadIdentity: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	mustRead(t, s)
	mustRead(t, s)
	if asked != 1 {
		t.Errorf("STS received %d requests for two images", asked)
	}
}

func TestThePodIdentityAgentIsAskedAgainWhenCredentialsExpire(t *testing.T) {
	standIn(t, &podIdentityAgent)
	asked, lifetime := 0, -time.Second
	agent := serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "token" || r.URL.Path != "/v1/credentials" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprintf(w, `{"AccessKeyId":"key","SecretAccessKey":"secret","Token":"session","Expiration":%q}`,
			time.Now().Add(lifetime).UTC().Format(time.RFC3339))
		lifetime = time.Hour
	})
	inCloud(t, map[string]string{
		"AWS_CONTAINER_CREDENTIALS_FULL_URI":     agent.URL + "/v1/credentials",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "token",
	})
	s, err := New(Config{
		Kind: "s3", Bucket: "photos", Region: "eu-west-2", Endpoint: bucketOf(t, "key", "session").URL,
		WorkloadIdentity: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		mustRead(t, s)
	}
	if asked != 2 {
		t.Errorf("the agent received %d requests for expired credentials and a new pair", asked)
	}
}

func TestGKEWorkloadIdentity(t *testing.T) {
	standIn(t, &gkeMetadataServer)
	asked := 0
	metadata := serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Metadata-Flavor") != "Google" ||
			r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" ||
			r.FormValue("scopes") != gcsScope {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(`{"access_token":"t","expires_in":3600,"token_type":"Bearer"}`))
	})
	bucket := serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = w.Write([]byte("image"))
	})
	inCloud(t, map[string]string{"GCE_METADATA_HOST": strings.TrimPrefix(metadata.URL, "http://")})
	s, err := New(Config{Kind: "gcs", Bucket: "photos", Endpoint: bucket.URL, WorkloadIdentity: true})
	if err != nil {
		t.Fatal(err)
	}
	mustRead(t, s)
	mustRead(t, s)
	if asked != 1 {
		t.Errorf("the metadata server received %d requests for two images", asked)
	}
}

func TestAPodWithoutAnIdentityIsNamedAndTheNodesIsNotUsed(t *testing.T) {
	inCloud(t, nil)
	_, err := New(Config{Kind: "s3", Bucket: "photos", Region: "eu-west-2", WorkloadIdentity: true})
	if err == nil || !strings.Contains(err.Error(), "AWS_WEB_IDENTITY_TOKEN_FILE") {
		t.Errorf("error %v", err)
	}
	// The agent of ECS is never used, even if variables name it.
	inCloud(t, map[string]string{
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI":     "http://169.254.170.23/v1/credentials",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "token",
	})
	s, err := New(Config{Kind: "s3", Bucket: "photos", Region: "eu-west-2", WorkloadIdentity: true})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = read(t, s, "/a.jpg", original.Validators{}, 100)
	if !problem.Is(err, problem.UpstreamFailed) || !errors.Is(err, errForbidden) {
		t.Errorf("error %v", err)
	}
}

func TestRequestsForCredentialsConnectOnlyToTheirAddress(t *testing.T) {
	for address, allowed := range map[string]*[]netip.Addr{
		"169.254.170.23": &podIdentityAgent, "fd00:ec2::23": &podIdentityAgent, "169.254.169.254": &gkeMetadataServer,
		"169.254.170.2": nil, "fd00:ec2::254": nil, "168.63.129.16": nil, "127.0.0.1": nil, "93.184.216.34": nil,
	} {
		for _, addresses := range []*[]netip.Addr{&podIdentityAgent, &gkeMetadataServer} {
			err := guard{only: *addresses}.control(context.Background(), "tcp", net.JoinHostPort(address, "80"), nil)
			if (err == nil) != (addresses == allowed) {
				t.Errorf("%s with %v: %v", address, *addresses, err)
			}
		}
		if allowed != nil && !(guard{}).refuses(netip.MustParseAddr(address)) {
			t.Errorf("images are read from %s", address)
		}
	}
	client := newIdentityClient(Config{}, guard{only: podIdentityAgent})
	if client.Transport.(*http.Transport).Proxy != nil {
		t.Error("tokens are sent to a proxy")
	}
}

func TestRequestsForCredentialsFollowNoRedirects(t *testing.T) {
	standIn(t, &podIdentityAgent)
	other := serveFolder(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	agent := serveFolder(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	for _, environ := range []map[string]string{
		{"AWS_WEB_IDENTITY_TOKEN_FILE": "token", "AWS_ENDPOINT_URL_STS": agent.URL},
		{"AWS_CONTAINER_CREDENTIALS_FULL_URI": agent.URL, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "token"},
	} {
		inCloud(t, environ)
		s, err := New(Config{Kind: "s3", Bucket: "photos", Region: "eu-west-2", WorkloadIdentity: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := read(t, s, "/a.jpg", original.Validators{}, 100); !problem.Is(err, problem.UpstreamFailed) {
			t.Errorf("error %v", err)
		}
	}
}

// A request ends with its context, for all kinds of credentials and any number of waiting requests.
func TestARequestThatEndsDoesNotWaitForCredentials(t *testing.T) {
	standIn(t, &podIdentityAgent)
	standIn(t, &gkeMetadataServer)
	ended := make(chan struct{})
	silent := serveFolder(t, func(http.ResponseWriter, *http.Request) { <-ended })
	t.Cleanup(func() { close(ended) })
	sts := map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "token", "AWS_ENDPOINT_URL_STS": silent.URL}
	agent := map[string]string{
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": silent.URL, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "token",
	}
	for name, test := range map[string]struct {
		Config
		environ map[string]string
	}{
		"STS":                      {Config{Kind: "s3", WorkloadIdentity: true}, sts},
		"agent of EKS":             {Config{Kind: "s3", WorkloadIdentity: true}, agent},
		"metadata of GKE":          {Config{Kind: "gcs", WorkloadIdentity: true}, nil},
		"key of a service account": {Config{Kind: "gcs", CredentialsJSON: serviceAccount(t, silent.URL)}, nil},
	} {
		inCloud(t, test.environ)
		t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(silent.URL, "http://"))
		c := test.Config
		c.Bucket, c.Region, c.Endpoint = "photos", "eu-west-2", silent.URL
		s, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		failed, end := make(chan error, 3), time.After(5*time.Minute)
		for range cap(failed) {
			go func() {
				_, err := s.Open(ctx, Request{Path: "/a.jpg"})
				failed <- err
			}()
		}
		for i := range cap(failed) {
			select {
			case err := <-failed:
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", name, err)
				}
			case <-end:
				t.Fatalf("%s: %d requests still wait", name, cap(failed)-i)
			}
		}
	}
}
