package buckets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// programs is the folder of the programs that tests start.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "buckets"); err != nil {
		panic(err)
	}
	code := 1
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(programs)
	os.Exit(code)
}

func build() error {
	for _, of := range []struct{ name, folder, path string }{
		{"gate", "../../gate", "."},
		{"darkroom", "../..", "./test/standins/darkroom"},
		{"versitygw", ".", "github.com/versity/versitygw/cmd/versitygw"},
	} {
		command := exec.Command("go", "-C", of.folder, "build", "-o", filepath.Join(programs, of.name), of.path)
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", of.name, err, out)
		}
	}
	return nil
}

// run starts a program that runs until the end of the test, and waits until a URL responds.
func run(t *testing.T, ready string, environ []string, name string, args ...string) {
	t.Helper()
	var log bytes.Buffer
	command := exec.Command(filepath.Join(programs, name), args...)
	command.Dir, command.Env, command.Stdout, command.Stderr = t.TempDir(), environ, &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(done)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-done
		if t.Failed() {
			t.Logf("%s: %s", name, log.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		response, err := http.Get(ready)
		if err == nil {
			response.Body.Close()
			if response.StatusCode < http.StatusInternalServerError {
				return
			}
		}
		select {
		case <-done:
			t.Fatalf("%s ended", name)
		default:
		}
	}
	t.Fatalf("%s is not ready", name)
}

// lastPort is below the ports that the system uses for outgoing connections, which could take a port after it was
// chosen and before it is used.
var lastPort = 10_000 + rand.IntN(15_000)

func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		lastPort++
		address := fmt.Sprintf("127.0.0.1:%d", lastPort)
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// bucket is an empty bucket of a server.
type bucket struct {
	// variables are the variables of the gate, without the prefix SOURCE_.
	variables map[string]string
	put       func(name string, body []byte) error
	// stop stops the server.
	stop func()
}

const bucketName, accessKey, secretKey = "images", "access", "not-a-real-key"

// newS3 starts versitygw, which keeps objects in files.
func newS3(t *testing.T) bucket {
	t.Helper()
	folder, metadata, address := t.TempDir(), t.TempDir(), freeAddress(t)
	if err := os.Mkdir(filepath.Join(folder, bucketName), 0o700); err != nil {
		t.Fatal(err)
	}
	// Not all file systems support the attributes that it would use for metadata.
	run(t, "http://"+address, nil, "versitygw", "--port", address, "--access", accessKey, "--secret", secretKey, "--quiet",
		"posix", "--sidecar", metadata, folder)
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String("http://" + address), Region: "us-east-1", UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
	})
	return bucket{
		variables: map[string]string{
			"KIND": "s3", "BUCKET_NAME": bucketName, "BUCKET_REGION": "us-east-1", "BUCKET_ENDPOINT": "http://" + address,
			"BUCKET_ACCESSKEY": accessKey, "BUCKET_SECRETKEY": secretKey,
		},
		put: func(name string, body []byte) error {
			_, err := client.PutObject(context.Background(), &s3.PutObjectInput{
				Bucket: aws.String(bucketName), Key: aws.String(name), Body: bytes.NewReader(body),
			})
			return err
		},
	}
}

// newGCS starts fake-gcs-server with a public bucket.
func newGCS(t *testing.T) bucket {
	t.Helper()
	storage, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	storage.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucketName})
	handler := storage.HTTPHandler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "storage.googleapis.com" // the URL contains the path of an object
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return bucket{
		variables: map[string]string{"KIND": "gcs", "BUCKET_NAME": bucketName, "BUCKET_ENDPOINT": server.URL},
		put: func(name string, body []byte) error {
			storage.CreateObject(fakestorage.Object{
				ObjectAttrs: fakestorage.ObjectAttrs{BucketName: bucketName, Name: name, ContentType: "image/png"}, Content: body,
			})
			return nil
		},
		stop: server.Close,
	}
}
