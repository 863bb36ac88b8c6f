package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// epoch is the time of every file: the same input must give the same bytes.
var epoch = time.Unix(0, 0).UTC()

// writeLayer writes the tar of the image's only layer and returns its digest,
// in hex.
func writeLayer(out io.Writer, files []File) (string, error) {
	hash := sha256.New()
	w := tar.NewWriter(io.MultiWriter(out, hash))
	for _, dir := range directories(files) {
		mode := int64(0o755)
		if dir == "tmp" {
			mode = 0o1777
		}
		header := &tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: mode, ModTime: epoch}
		if err := w.WriteHeader(header); err != nil {
			return "", err
		}
	}
	sorted := slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, file := range sorted {
		if err := writeFile(w, file); err != nil {
			return "", fmt.Errorf("pack %s: %w", file.Source, err)
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func writeFile(w *tar.Writer, file File) error {
	source, err := os.Open(file.Source)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a regular file: %s", info.Mode())
	}
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: inTar(file.Path), Size: info.Size(), Mode: int64(permissions(info.Mode())), ModTime: epoch,
	}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, source)
	return err
}

// permissions depend only on whether a file is executable, not on the umask
// of the user who created it.
func permissions(mode fs.FileMode) fs.FileMode {
	if mode&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

// directories are the folders the files need, parents first, and /tmp.
func directories(files []File) []string {
	dirs := []string{"tmp"}
	for _, file := range files {
		for dir := path.Dir(inTar(file.Path)); dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// inTar is the name of an absolute path inside a tar.
func inTar(name string) string { return strings.TrimPrefix(path.Clean(name), "/") }
