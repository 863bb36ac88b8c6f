package image

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestAnImageHasItsFilesAndTheirFolders(t *testing.T) {
	source := t.TempDir()
	for name, mode := range map[string]os.FileMode{"program": 0o700, "folder/text": 0o600} {
		path := filepath.Join(source, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), mode)); err != nil {
			t.Fatal(err)
		}
	}
	built, err := Build([]File{
		{Path: "/app/program", Source: filepath.Join(source, "program")},
		{Path: "/etc/folder", Source: filepath.Join(source, "folder")},
	}, v1.Config{User: "1001"})
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(source, "image.tar")
	const name = "registry.example.com/darkroom:v1"
	if err := Save(archive, name, built); err != nil {
		t.Fatal(err)
	}
	if got, err := NameOf(archive); err != nil || got != name {
		t.Errorf("the name is %q, %v", got, err)
	}
	saved, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		t.Fatal(err)
	}
	if config, err := saved.ConfigFile(); err != nil || config.Config.User != "1001" || config.OS != "linux" {
		t.Errorf("the configuration is %+v, %v", config, err)
	}
	want := map[string]int64{
		"tmp/": 0o1777, "app/": 0o755, "app/program": 0o755, "etc/": 0o755,
		"etc/folder/": 0o755, "etc/folder/text": 0o644,
	}
	if got := contents(t, saved); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// contents returns the modes of all files of an image's only layer.
func contents(t *testing.T, image v1.Image) map[string]int64 {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	unpacked, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Close()
	got := map[string]int64{}
	for r := tar.NewReader(unpacked); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		got[header.Name] = header.Mode
	}
}
