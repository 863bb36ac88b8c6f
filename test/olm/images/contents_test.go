//go:build images

package images

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// contents are an image's files and links by their path: owner, mode and digest.
func contents(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	found := map[string]string{}
	each(t, image, func(header *tar.Header, r io.Reader) {
		if header.Typeflag == tar.TypeDir {
			return
		}
		found[inImage(header.Name)] = fmt.Sprintf("%d:%d %v %s", header.Uid, header.Gid, fs.FileMode(header.Mode).Perm(), digest(t, r))
	})
	return found
}

// file is one file of an image, extracted to this machine.
func file(t *testing.T, image v1.Image, name string) string {
	t.Helper()
	target := filepath.Join(t.TempDir(), path.Base(name))
	each(t, image, func(header *tar.Header, r io.Reader) {
		if inImage(header.Name) != name {
			return
		}
		out, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, 0o700)
		if err == nil {
			_, err = io.Copy(out, r)
		}
		if err := errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
	})
	return target
}

// unpack puts the folders and files of an image below a folder of this machine.
func unpack(t *testing.T, image v1.Image) string {
	t.Helper()
	root := t.TempDir()
	each(t, image, func(header *tar.Header, r io.Reader) {
		target := filepath.Join(root, inImage(header.Name))
		mode := fs.FileMode(header.Mode).Perm()
		if header.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(target, mode); err != nil {
				t.Fatal(err)
			}
			return
		}
		content, err := io.ReadAll(r)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(target), 0o755)
		}
		if err == nil {
			err = os.WriteFile(target, content, mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	return root
}

// each reads an image as a container sees it.
func each(t *testing.T, image v1.Image, visit func(*tar.Header, io.Reader)) {
	t.Helper()
	flat := mutate.Extract(image)
	defer flat.Close()
	for r := tar.NewReader(flat); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		visit(header, r)
	}
}

// folders are the files of folders of this machine by their paths in an image, with the
// digests of their contents.
func folders(t *testing.T, trees map[string]string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for target, folder := range trees {
		err := filepath.WalkDir(folder, func(source string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			below, err := filepath.Rel(folder, source)
			if err != nil {
				return err
			}
			in, err := os.Open(source)
			if err != nil {
				return err
			}
			defer in.Close()
			found[path.Join(target, filepath.ToSlash(below))] = digest(t, in)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func inImage(name string) string { return path.Join("/", name) }

func digest(t *testing.T, r io.Reader) string {
	t.Helper()
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// compare says in what two sets of files differ.
func compare(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, is := range want {
		if got[name] != is {
			t.Errorf("%s must be %q, and is %q", name, is, got[name])
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			t.Errorf("%s does not belong into the image", name)
		}
	}
}
