package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7"
)

// sourcesDir is where buildSources builds; TestMain removes it.
var sourcesDir string

// buildSources builds the S3 server of ../sources once. It is another module and
// signs with another library, so neither side can share the other's mistakes.
var buildSources = sync.OnceValues(func() (string, error) {
	var err error
	if sourcesDir, err = os.MkdirTemp("", "sources"); err != nil {
		return "", err
	}
	binary := filepath.Join(sourcesDir, "sources")
	build := exec.Command("go", "build", "-C", "../sources", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sources: %w\n%s", err, out)
	}
	return binary, nil
})

// startS3 runs the S3 server with a bucket and returns its address.
func startS3(t *testing.T, bucket string) string {
	t.Helper()
	binary, err := buildSources()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "s3", "--addr", "127.0.0.1:0", "--bucket", bucket)
	cmd.Env = []string{"S3_ACCESS_KEY=key", "S3_SECRET_KEY=secret"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var line struct{ Addr string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&line); err != nil || line.Addr == "" {
		t.Fatalf("no address from the S3 server: %v", err)
	}
	return line.Addr
}

func s3Env(bucket, endpoint string) map[string]string {
	return map[string]string{
		"SOURCE_KIND": "S3", "SOURCE_BUCKET_NAME": bucket, "SOURCE_BUCKET_REGION": "eu-west-2",
		"SOURCE_BUCKET_ACCESSKEY": "key", "SOURCE_BUCKET_SECRETKEY": "secret",
		"SOURCE_BUCKET_ENDPOINT": endpoint, "SOURCE_HYSTRIX_TIMEOUT": "10000",
	}
}

func TestABucketIsReadWithTheRightKeyOnly(t *testing.T) {
	endpoint := "http://" + startS3(t, "my_photos")
	env := s3Env("my_photos", endpoint)
	p := start(t, env)
	for _, path := range []string{"/uploads/sample.png?w=300", "/images/sample.jpg?w=300"} {
		img, _ := p.expect(path, http.StatusOK).image(t)
		if size := img.Bounds().Size(); size.X != 300 || size.Y != 200 {
			t.Errorf("%s: %v", path, size)
		}
	}
	p.expect("/uploads/none.png", http.StatusNotFound)

	env["SOURCE_BUCKET_SECRETKEY"] = "wrong"
	start(t, env).expect("/uploads/sample.png", http.StatusForbidden)

	env = s3Env("other_photos", endpoint)
	start(t, env).expect("/uploads/sample.png", http.StatusNotFound)
}

func TestABucketWhoseNameIsADNSNameIsAskedForAtItsOwnHost(t *testing.T) {
	// No DNS knows the host, so a proxy stands between: it notes the host that was
	// asked for and hands the request on as it is, signature and all.
	hosts := make(chan string, 1)
	bucket := &url.URL{Scheme: "http", Host: startS3(t, "photos")}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(bucket)
		r.Out.Host = r.In.Host
		hosts <- r.In.Host
	}}
	proxy := httptest.NewServer(forward)
	defer proxy.Close()

	env := s3Env("photos", "http://storage.test:9000")
	env["HTTP_PROXY"] = proxy.URL
	start(t, env).expect("/uploads/sample.png?w=300", http.StatusOK)
	if got := <-hosts; got != "photos.storage.test:9000" {
		t.Errorf("asked for at %q", got)
	}
}

func TestTheBucketsNameAloneChoosesTheAddress(t *testing.T) {
	for _, test := range []struct {
		bucket string
		secure bool
		want   minio.BucketLookupType
	}{
		{"photos", false, minio.BucketLookupDNS},
		{"my-photos", true, minio.BucketLookupDNS},
		{"my_photos", false, minio.BucketLookupPath},
		{"Photos", false, minio.BucketLookupPath},
		{"10.1.2.3", false, minio.BucketLookupPath},
		{"a..b", false, minio.BucketLookupPath},
		{"img.photos", false, minio.BucketLookupDNS},
		{"img.photos", true, minio.BucketLookupPath},
		{"ab", false, minio.BucketLookupPath},
	} {
		if got := addressing(test.bucket, test.secure); got != test.want {
			t.Errorf("%s, secure %v: %v, want %v", test.bucket, test.secure, got, test.want)
		}
	}
}
