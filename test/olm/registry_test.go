//go:build e2e

package olm

import (
	"archive/tar"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
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
	packed, err := packFolders(folders)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil })
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err == nil {
		image, err = mutate.Config(image, config)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pushImage(t, authority, reference, image)
}

// pushArchive pushes the image of a docker-archive, and returns the digest. It is another one
// in each test, so that a node which has pulled the image pulls it again.
func pushArchive(t *testing.T, authority *authority, reference, archive string) string {
	t.Helper()
	image, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		t.Fatal(err)
	}
	labeled, ok := mutate.Annotations(image, map[string]string{"test": t.Name()}).(v1.Image)
	if !ok {
		t.Fatalf("%s is not an image", archive)
	}
	return pushImage(t, authority, reference, labeled)
}

func pushImage(t *testing.T, authority *authority, reference string, image v1.Image) string {
	t.Helper()
	target, err := name.ParseReference(reference)
	if err == nil {
		err = remote.Write(target, image, remote.WithTransport(authority.transport()), remote.WithContext(t.Context()))
	}
	if err != nil {
		t.Fatalf("push %s: %v", reference, err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

func packFolders(folders map[string]string) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for target, folder := range folders {
		err := filepath.WalkDir(folder, func(source string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			below, err := filepath.Rel(folder, source)
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			header := &tar.Header{Name: path.Join(target, filepath.ToSlash(below)), Mode: int64(info.Mode().Perm()), Typeflag: tar.TypeDir}
			if entry.IsDir() {
				if header.Name == "/" {
					return nil
				}
				header.Name += "/"
				return w.WriteHeader(header)
			}
			content, err := os.ReadFile(source)
			if err != nil {
				return err
			}
			header.Typeflag, header.Size = tar.TypeReg, int64(len(content))
			if err := w.WriteHeader(header); err != nil {
				return err
			}
			_, err = w.Write(content)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
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
