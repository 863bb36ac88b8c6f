//go:build images

package images

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// certificates are those of this machine, as in the image of `make image`.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

// pushBase pushes a stand-in for distroless: certificates and /tmp, for both platforms.
// It returns the reference, pinned by digest as in the Dockerfile.
func pushBase(t *testing.T, host string) string {
	t.Helper()
	files := []tar.Header{
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "etc/ssl/", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "etc/ssl/certs/", Mode: 0o755},
		{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(certificates, "/"), Mode: 0o644, Linkname: certificates},
	}
	return pushIndex(t, host+"/standin/base:1", layer(t, files), nil)
}

// pushOPM pushes a stand-in for opm's image. Both platforms get this machine's program:
// it is run only where the cache is made.
func pushOPM(t *testing.T, host, program string) string {
	t.Helper()
	return pushIndex(t, host+"/standin/opm:1", layer(t, []tar.Header{
		{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		{Typeflag: tar.TypeReg, Name: "bin/opm", Mode: 0o755, Linkname: program},
	}), nil)
}

// pushCompilers pushes a stand-in for the images of Go and Node, empty but for folders to
// mount this machine's compilers on. It returns the reference, and what mounts them.
func pushCompilers(t *testing.T, host string) (reference string, mounts []string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("the image needs the page, and there is no npm to build it")
	}
	if link, err := os.Readlink("/bin"); err != nil || link != "usr/bin" {
		t.Skip("the compilers are mounted with /usr, and here /bin is not in it")
	}
	node, err := filepath.EvalSymlinks(output(t, "node", "--print", "process.execPath"))
	if err != nil {
		t.Fatal(err)
	}
	root, modules, builds := output(t, "go", "env", "GOROOT"), output(t, "go", "env", "GOMODCACHE"), output(t, "go", "env", "GOCACHE")
	packages := output(t, "npm", "config", "get", "cache")

	// Compilers are only read. Caches are shared with this machine's builds, which is why
	// the image is built in seconds where the operator has been built before.
	for _, folder := range []string{"/usr", "/etc/ssl", "/etc/alternatives", root, filepath.Dir(filepath.Dir(node))} {
		if _, err := os.Stat(folder); err == nil && !(strings.HasPrefix(folder, "/usr/") || mounted(mounts, folder)) {
			mounts = append(mounts, folder+":"+folder+":ro")
		}
	}
	for _, folder := range []string{modules, builds, packages} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		mounts = append(mounts, folder+":"+folder)
	}
	var files []tar.Header
	for _, folder := range []string{"usr/", "etc/", "root/", "workspace/"} {
		files = append(files, tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755})
	}
	files = append(files, tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777})
	for _, link := range []string{"bin", "sbin", "lib", "lib64"} {
		files = append(files, tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: "usr/" + link})
	}
	return pushIndex(t, host+"/standin/compilers:1", layer(t, files), []string{
		"PATH=" + strings.Join([]string{filepath.Join(root, "bin"), filepath.Dir(node), filepath.Dir(npm), "/usr/sbin", "/usr/bin"}, ":"),
		"HOME=/root", "GOMODCACHE=" + modules, "GOCACHE=" + builds, "GOTOOLCHAIN=local",
		"GOPROXY=" + output(t, "go", "env", "GOPROXY"), "GOSUMDB=" + output(t, "go", "env", "GOSUMDB"),
		"npm_config_cache=" + packages, "npm_config_prefer_offline=true", "npm_config_registry=" + output(t, "npm", "config", "get", "registry"),
	}), mounts
}

func mounted(mounts []string, folder string) bool {
	for _, mount := range mounts {
		if strings.HasPrefix(mount, folder+":") {
			return true
		}
	}
	return false
}

// layer packs files. The content of a regular one is that of the file of this machine
// which its Linkname names.
func layer(t *testing.T, files []tar.Header) v1.Layer {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, header := range files {
		var content []byte
		if header.Typeflag == tar.TypeReg {
			var err error
			if content, err = os.ReadFile(header.Linkname); err != nil {
				t.Fatal(err)
			}
			header.Linkname, header.Size = "", int64(len(content))
		}
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	made, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// pushIndex pushes an image of one layer for both platforms.
func pushIndex(t *testing.T, reference string, content v1.Layer, environment []string) string {
	t.Helper()
	index := v1.ImageIndex(empty.Index)
	for platform := range strings.SplitSeq(platforms, ",") {
		system, architecture, _ := strings.Cut(platform, "/")
		image, err := mutate.AppendLayers(empty.Image, content)
		if err != nil {
			t.Fatal(err)
		}
		image, err = mutate.ConfigFile(image, withPlatform(t, image, system, architecture, environment))
		if err != nil {
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: system, Architecture: architecture},
		}})
	}
	target, err := name.ParseReference(reference)
	if err == nil {
		err = remote.WriteIndex(target, index)
	}
	if err != nil {
		t.Fatalf("push %s: %v", reference, err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return reference + "@" + digest.String()
}

func withPlatform(t *testing.T, image v1.Image, system, architecture string, environment []string) *v1.ConfigFile {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Config.Env = system, architecture, environment
	return config
}
