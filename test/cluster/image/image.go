// Package image packs programs and files as a container image with one layer, FROM scratch, without a container engine
// or a registry. The same input produces the same bytes.
package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// File is a file of an image, or a folder with all its files.
type File struct {
	// Path is its path in the image, and Source its path on this machine.
	Path, Source string
}

// Build returns an image of the files and folders.
func Build(files []File, config v1.Config) (v1.Image, error) {
	var packed bytes.Buffer
	w := &layer{Writer: tar.NewWriter(&packed), folders: map[string]bool{"/": true}}
	if err := w.folder("/tmp", 0o1777); err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := w.tree(file); err != nil {
			return nil, fmt.Errorf("pack %s: %w", file.Source, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	// Images stay on this machine, and compressing them would take longer than anything else.
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	packedLayer, err := tarball.LayerFromOpener(opener, tarball.WithCompressionLevel(gzip.NoCompression))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, packedLayer)
	if err != nil {
		return nil, err
	}
	described, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	described = described.DeepCopy()
	described.OS, described.Architecture = "linux", runtime.GOARCH
	described.Config = config
	return mutate.ConfigFile(image, described)
}

// Save writes an image into a docker-archive, which containerd, podman and docker import.
func Save(archive, reference string, image v1.Image) error {
	tag, err := name.NewTag(reference, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("the name of an image must have a registry and a tag: %w", err)
	}
	return tarball.WriteToFile(archive, tag, image)
}

// NameOf returns the name of the only image in a docker-archive.
func NameOf(archive string) (string, error) {
	images, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(archive) })
	if err != nil {
		return "", fmt.Errorf("read %s: %w", archive, err)
	}
	if len(images) != 1 || len(images[0].RepoTags) != 1 {
		return "", fmt.Errorf("%s must contain one image with one name, but has %+v", archive, images)
	}
	return images[0].RepoTags[0], nil
}

// CheckStatic returns an error if a program needs a dynamic loader. FROM scratch it would fail with a
// misleading "no such file".
func CheckStatic(program string) error {
	file, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("%s is not a Linux program: %w", program, err)
	}
	defer func() { _ = file.Close() }() // only read
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is not static; build it with CGO_ENABLED=0", program)
		}
	}
	return nil
}

// layer is the tar of an image's layer, with the folders that it contains.
type layer struct {
	*tar.Writer

	folders map[string]bool
}

// tree adds a file, or a folder with all its content.
func (l *layer) tree(file File) error {
	return filepath.WalkDir(file.Source, func(source string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(file.Source, source)
		if err != nil {
			return err
		}
		// Stat follows symbolic links, because libraries on the machine may be symbolic links.
		info, err := os.Stat(source)
		if err != nil {
			return err
		}
		target := path.Join("/", file.Path, filepath.ToSlash(below))
		if info.IsDir() {
			return l.folder(target, permissions(info))
		}
		return l.file(target, source, info)
	})
}

// folder adds a folder after its parents, unless it exists.
func (l *layer) folder(target string, mode int64) error {
	if l.folders[target] {
		return nil
	}
	l.folders[target] = true
	if err := l.folder(path.Dir(target), 0o755); err != nil {
		return err
	}
	return l.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(target, "/") + "/", Mode: mode})
}

// permissions do not depend on the umask of the user who created a file, except for world-writable files
func permissions(info fs.FileInfo) int64 {
	mode := int64(0o644)
	if info.IsDir() || info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	if info.Mode()&0o002 != 0 {
		mode |= 0o022
	}
	return mode
}

func (l *layer) file(target, source string, info fs.FileInfo) error {
	if err := l.folder(path.Dir(target), 0o755); err != nil {
		return err
	}
	content, err := os.Open(source)
	if err != nil {
		return err
	}
	defer content.Close()
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: strings.TrimPrefix(target, "/"),
		Size: info.Size(), Mode: permissions(info),
	}
	if err := l.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(l.Writer, content)
	return err
}
