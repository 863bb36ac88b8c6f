package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"strings"
	"time"
)

// File is a file of the image.
type File struct {
	// Path is where it is in the image, absolute.
	Path string
	// Source is where it is on this machine.
	Source string
}

// Image describes an image.
type Image struct {
	// Name with tag, such as docker.io/gojektech/darkroom:v0.4.2.
	Name  string
	Files []File
	// Entrypoint, User and WorkingDir are as in a Dockerfile.
	Entrypoint []string
	Command    []string
	User       string
	WorkingDir string
}

// Check returns an error if the description is invalid.
func (i Image) Check() error {
	name, tag := i.Name, ""
	if at := strings.LastIndex(i.Name, ":"); at > strings.LastIndex(i.Name, "/") {
		name, tag = i.Name[:at], i.Name[at+1:]
	}
	host, rest, ok := strings.Cut(name, "/")
	if tag == "" || !ok || rest == "" || !strings.ContainsAny(host, ".:") {
		return fmt.Errorf("image name %q must be complete, with registry and tag, such as docker.io/gojektech/darkroom:v0.4.2", i.Name)
	}
	for _, file := range i.Files {
		if !path.IsAbs(file.Path) {
			return fmt.Errorf("path in the image must be absolute: %q", file.Path)
		}
	}
	if !path.IsAbs(i.WorkingDir) {
		return fmt.Errorf("working directory must be absolute: %q", i.WorkingDir)
	}
	return nil
}

type config struct {
	Architecture string          `json:"architecture"`
	OS           string          `json:"os"`
	Created      time.Time       `json:"created"`
	Config       containerConfig `json:"config"`
	RootFS       rootFS          `json:"rootfs"`
	History      []history       `json:"history"`
}

type containerConfig struct {
	Entrypoint []string `json:"Entrypoint"`
	Cmd        []string `json:"Cmd,omitempty"`
	User       string   `json:"User,omitempty"`
	WorkingDir string   `json:"WorkingDir,omitempty"`
	Env        []string `json:"Env"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type history struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

// manifest is an entry of a docker-archive's manifest.json.
type manifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// Write writes the image as a docker-archive tar.
func (i Image) Write(out io.Writer) error {
	if err := i.Check(); err != nil {
		return err
	}
	// The layer's digest names it and comes before it, so it is packed first.
	layer, err := os.CreateTemp("", "layer-*.tar")
	if err != nil {
		return fmt.Errorf("pack image %s: %w", i.Name, err)
	}
	defer os.Remove(layer.Name())
	defer layer.Close()
	digest, err := writeLayer(layer, i.Files)
	if err != nil {
		return fmt.Errorf("pack image %s: %w", i.Name, err)
	}
	if err := i.writeArchive(out, layer, digest); err != nil {
		return fmt.Errorf("pack image %s: %w", i.Name, err)
	}
	return nil
}

func (i Image) writeArchive(out io.Writer, layer *os.File, digest string) error {
	configJSON, err := json.Marshal(config{
		Architecture: runtime.GOARCH, OS: "linux", Created: epoch,
		Config: containerConfig{
			Entrypoint: i.Entrypoint, Cmd: i.Command, User: i.User, WorkingDir: i.WorkingDir,
			Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin:/"},
		},
		RootFS:  rootFS{Type: "layers", DiffIDs: []string{"sha256:" + digest}},
		History: []history{{Created: epoch, CreatedBy: "cluster image"}},
	})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(configJSON)
	configName := hex.EncodeToString(sum[:]) + ".json"
	layerName := digest + "/layer.tar"
	manifestJSON, err := json.Marshal([]manifest{{Config: configName, RepoTags: []string{i.Name}, Layers: []string{layerName}}})
	if err != nil {
		return err
	}

	size, err := layer.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := layer.Seek(0, io.SeekStart); err != nil {
		return err
	}
	w := tar.NewWriter(out)
	for _, entry := range []struct {
		name    string
		size    int64
		content io.Reader
	}{
		{layerName, size, layer},
		{configName, int64(len(configJSON)), strings.NewReader(string(configJSON))},
		{"manifest.json", int64(len(manifestJSON)), strings.NewReader(string(manifestJSON))},
	} {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: entry.name, Size: entry.size, Mode: 0o644, ModTime: epoch}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.Copy(w, entry.content); err != nil {
			return err
		}
	}
	return w.Close()
}
