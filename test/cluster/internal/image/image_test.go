package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func sample(t *testing.T) Image {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "darkroom")
	if err := os.WriteFile(program, []byte("program"), 0o700); err != nil {
		t.Fatal(err)
	}
	extra := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(extra, []byte("a: b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Image{
		Name:       "docker.io/gojektech/darkroom:v0.4.2",
		Files:      []File{{"/app/darkroom", program}, {"/app/etc/config.yaml", extra}},
		Entrypoint: []string{"./darkroom"}, User: "65532", WorkingDir: "/app",
	}
}

func pack(t *testing.T, i Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := i.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// entries reads a tar into contents and headers by name.
func entries(t *testing.T, data []byte) (map[string][]byte, map[string]*tar.Header) {
	t.Helper()
	contents, headers := map[string][]byte{}, map[string]*tar.Header{}
	r := tar.NewReader(bytes.NewReader(data))
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return contents, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		contents[header.Name], headers[header.Name] = content, header
	}
}

func TestArchiveNamesWhatItHolds(t *testing.T) {
	contents, _ := entries(t, pack(t, sample(t)))
	var manifests []manifest
	if err := json.Unmarshal(contents["manifest.json"], &manifests); err != nil {
		t.Fatal(err)
	}
	m := manifests[0]
	if !slices.Equal(m.RepoTags, []string{"docker.io/gojektech/darkroom:v0.4.2"}) {
		t.Errorf("tags are %v", m.RepoTags)
	}
	var c config
	if err := json.Unmarshal(contents[m.Config], &c); err != nil {
		t.Fatal(err)
	}
	layer := contents[m.Layers[0]]
	sum := sha256.Sum256(layer)
	if want := "sha256:" + hex.EncodeToString(sum[:]); c.RootFS.DiffIDs[0] != want {
		t.Errorf("the config names layer %s, the layer is %s", c.RootFS.DiffIDs[0], want)
	}
	if c.Config.User != "65532" || c.Config.WorkingDir != "/app" || !slices.Equal(c.Config.Entrypoint, []string{"./darkroom"}) {
		t.Errorf("config is %+v", c.Config)
	}

	files, headers := entries(t, layer)
	got := slices.Sorted(maps.Keys(files))
	if want := []string{"app/", "app/darkroom", "app/etc/", "app/etc/config.yaml", "tmp/"}; !slices.Equal(got, want) {
		t.Errorf("the layer holds %v, want %v", got, want)
	}
	for name, mode := range map[string]int64{"app/darkroom": 0o755, "app/etc/config.yaml": 0o644, "tmp/": 0o1777} {
		if headers[name].Mode != mode {
			t.Errorf("%s has mode %o, want %o", name, headers[name].Mode, mode)
		}
	}
}

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	i := sample(t)
	first := pack(t, i)
	slices.Reverse(i.Files)
	later := time.Now().Add(time.Hour)
	for _, file := range i.Files {
		if err := os.Chtimes(file.Source, later, later); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first, pack(t, i)) {
		t.Error("order and times of the files must not matter")
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Image)
		want   string
	}{
		{"complete", func(*Image) {}, ""},
		{"a port in the registry", func(i *Image) { i.Name = "localhost:5000/darkroom:v1" }, ""},
		{"no tag", func(i *Image) { i.Name = "docker.io/gojektech/darkroom" }, "complete"},
		{"no tag, but a port", func(i *Image) { i.Name = "localhost:5000/darkroom" }, "complete"},
		{"no registry", func(i *Image) { i.Name = "gojektech/darkroom:v1" }, "complete"},
		{"a relative path", func(i *Image) { i.Files[0].Path = "darkroom" }, "absolute"},
		{"a relative working directory", func(i *Image) { i.WorkingDir = "app" }, "absolute"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i := sample(t)
			test.change(&i)
			err := i.Check()
			if (test.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestATreeIsPackedWithLabelsAndArguments(t *testing.T) {
	i := sample(t)
	folder := t.TempDir()
	for _, name := range []string{"Chart.yaml", "templates/service.yaml"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := Tree("/charts/darkroom", folder)
	if err != nil {
		t.Fatal(err)
	}
	i.Files, i.Command, i.Architecture = append(i.Files, tree...), []string{"server"}, "arm64"
	i.Labels = map[string]string{"org.opencontainers.image.licenses": "Apache-2.0"}

	contents, _ := entries(t, pack(t, i))
	var manifests []manifest
	if err := json.Unmarshal(contents["manifest.json"], &manifests); err != nil {
		t.Fatal(err)
	}
	var c config
	if err := json.Unmarshal(contents[manifests[0].Config], &c); err != nil {
		t.Fatal(err)
	}
	if c.Architecture != "arm64" || !slices.Equal(c.Config.Cmd, i.Command) || !maps.Equal(c.Config.Labels, i.Labels) {
		t.Errorf("config is %+v", c)
	}
	files, _ := entries(t, contents[manifests[0].Layers[0]])
	if string(files["charts/darkroom/templates/service.yaml"]) != "templates/service.yaml" {
		t.Errorf("the layer holds %v", slices.Sorted(maps.Keys(files)))
	}
}

func TestAnArchiveHasItsName(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(archive, pack(t, sample(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	if name, err := NameOf(archive); err != nil || name != "docker.io/gojektech/darkroom:v0.4.2" {
		t.Errorf("got %q, %v", name, err)
	}
}
