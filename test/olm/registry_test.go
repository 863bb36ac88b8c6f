//go:build e2e

package olm

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/image"
)

// mirror is an image registry at the node's address, where pods reach it.
type mirror struct {
	host string

	mu     sync.Mutex
	pulled map[string]bool
}

// note notes what is pulled by digest.
func (m *mirror) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if repository, digest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/manifests/sha256:"); found && r.Method != http.MethodPut {
			m.mu.Lock()
			m.pulled[repository+"@sha256:"+digest] = true
			m.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// hasServed reports whether an image was pulled by digest. The host in its name is ignored.
func (m *mirror) hasServed(image string) bool {
	_, repository, _ := strings.Cut(image, "/")
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pulled[repository]
}

// startRegistry runs a registry until the test ends.
func startRegistry(t *testing.T, authority *authority) *mirror {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(nodeIP, "0"))
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := authority.issue(t, nodeIP)
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	m := &mirror{host: listener.Addr().String(), pulled: map[string]bool{}}
	server := httptest.NewUnstartedServer(m.note(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return m
}

// push pushes an image of one layer to the registry: folders, by their paths in it. It
// returns the digest.
func push(t *testing.T, authority *authority, reference string, folders map[string]string, config v1.Config) string {
	t.Helper()
	var files []image.File
	for target, source := range folders {
		files = append(files, image.File{Path: target, Source: source})
	}
	packed, err := image.Build(files, config)
	if err != nil {
		t.Fatal(err)
	}
	return pushImage(t, authority, reference, packed)
}

// pushArchive pushes the image of a docker-archive, and returns the digest. It is another one
// in each test, so that a node which has pulled the image pulls it again.
func pushArchive(t *testing.T, authority *authority, reference, archive string) string {
	t.Helper()
	packed, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		t.Fatal(err)
	}
	labeled, ok := mutate.Annotations(packed, map[string]string{"test": t.Name()}).(v1.Image)
	if !ok {
		t.Fatalf("%s is not an image", archive)
	}
	return pushImage(t, authority, reference, labeled)
}

func pushImage(t *testing.T, authority *authority, reference string, packed v1.Image) string {
	t.Helper()
	target, err := name.ParseReference(reference)
	if err == nil {
		err = remote.Write(target, packed, remote.WithTransport(authority.transport()), remote.WithContext(t.Context()))
	}
	if err != nil {
		t.Fatalf("push %s: %v", reference, err)
	}
	digest, err := packed.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// bundleLabels are those that the bundle.Dockerfile beside a bundle gives the image.
func bundleLabels(t *testing.T, bundle string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(bundle), "bundle.Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if label, found := strings.CutPrefix(strings.TrimSpace(line), "LABEL "); found {
			key, value, _ := strings.Cut(label, "=")
			labels[key] = strings.Trim(value, `"`)
		}
	}
	if len(labels) < 6 {
		t.Fatal(fmt.Errorf("bundle.Dockerfile has the labels %v", labels))
	}
	return labels
}
