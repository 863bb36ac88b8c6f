package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/semaphore"
)

const (
	// fileOverhead is the disk space of a file in addition to its content.
	fileOverhead = 4096
	// temporary is the prefix of files that are being written.
	temporary = "tmp-"
	// maxWriters bounds the files that are being written, because these are not in the index yet.
	maxWriters = 2
)

// disk is a directory of entries with a bounded size. Files are renamed when they are complete, so there are no
// partial ones.
type disk struct {
	folder string
	// largest is the maximum size of a stored entry.
	largest int64
	writers chan struct{}
	// reading bounds the memory of files that are being read.
	reading     *semaphore.Weighted
	readingMost int64
	// index contains the files by name, and evicts files to stay within the capacity.
	index *otter.Cache[string, *file]
}

// file is one version of the file of a key.
type file struct {
	size int64
	// written is set when the file has been moved to its final name.
	written bool
}

// openDisk opens the folder and indexes the files of an earlier process. Files that are being read use at most the
// given memory.
func openDisk(folder string, capacity, memory int64, evicted func()) (*disk, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("open disk cache: %w", err)
	}
	d := &disk{
		folder: folder, largest: capacity / 16, writers: make(chan struct{}, maxWriters),
		reading: semaphore.NewWeighted(memory), readingMost: memory,
	}
	d.index = otter.Must(&otter.Options[string, *file]{
		MaximumWeight: uint64(max(capacity, 1)),
		// Files have at most largest bytes.
		Weigher: func(_ string, f *file) uint32 { return uint32(f.size + fileOverhead) }, //nolint:gosec // see above
		// Evict synchronously, so that the bound always holds.
		Executor: func(task func()) { task() },
		OnAtomicDeletion: func(e otter.DeletionEvent[string, *file]) {
			if e.Cause != otter.CauseReplacement {
				_ = os.Remove(d.path(e.Key))
			}
			if e.WasEvicted() {
				evicted()
			}
		},
	})
	for _, entry := range entries {
		info, err := entry.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasPrefix(entry.Name(), temporary) || info.Size() > d.largest:
			_ = os.Remove(d.path(entry.Name()))
		case len(entry.Name()) == hex.EncodedLen(sha256.Size):
			d.index.Set(entry.Name(), &file{info.Size(), true})
		}
	}
	return d, nil
}

// nameOf returns the file name of a key.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func (d *disk) path(name string) string { return filepath.Join(d.folder, name) }

// get returns an entry and its file, or nil without an error if there is none. Unreadable and corrupt files are
// removed.
func (d *disk) get(key string) (entry *Entry, of *file, err error) {
	name := nameOf(key)
	of, ok := d.index.GetIfPresent(name)
	if !ok || !of.written {
		return nil, nil, nil
	}
	size := min(of.size, d.readingMost)
	_ = d.reading.Acquire(context.Background(), size) // reads are short
	defer d.reading.Release(size)
	info, err := os.Stat(d.path(name))
	var content []byte
	if err == nil {
		content, err = os.ReadFile(d.path(name))
	}
	if err == nil {
		entry, err = decode(key, content)
	}
	if err != nil {
		d.index.Invalidate(name)
		if errors.Is(err, fs.ErrNotExist) { // evicted meanwhile
			return nil, nil, nil
		}
		return nil, nil, fmt.Errorf("read cache file: %w", err)
	}
	entry.Validated = info.ModTime()
	return entry, of, nil
}

// ifCurrent calls do if a file still belongs to a key. The file is neither removed nor replaced meanwhile.
func (d *disk) ifCurrent(key string, of *file, do func()) {
	d.index.Compute(nameOf(key), func(current *file, _ bool) (*file, otter.ComputeOp) {
		if current == of {
			do()
		}
		return nil, otter.CancelOp
	})
}

// claim removes the file of a key, which is outdated even if the new entry cannot be stored, and returns a place for
// the new file.
func (d *disk) claim(key string) *file {
	name, place := nameOf(key), &file{}
	d.index.Invalidate(name)
	d.index.Set(name, place)
	return place
}

// put stores an entry in its place, unless the place was removed or claimed again meanwhile. If too many files are
// being written, the entry is not stored, so put does not wait for a slow disk.
func (d *disk) put(key string, e *Entry, place *file) error {
	select {
	case d.writers <- struct{}{}:
		defer func() { <-d.writers }()
	default:
		return d.finish(key, place, "", 0)
	}
	content, err := encode(key, e)
	if err != nil || int64(len(content)) > d.largest {
		return errors.Join(err, d.finish(key, place, "", 0))
	}
	temp, err := d.write(content, e.Validated)
	if err = errors.Join(err, d.finish(key, place, temp, int64(len(content)))); err != nil {
		return fmt.Errorf("write cache file: %w", err)
	}
	return nil
}

// write returns the path of a new temporary file; empty after an error.
func (d *disk) write(content []byte, validated time.Time) (path string, err error) {
	f, err := os.CreateTemp(d.folder, temporary)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close(), os.Chtimes(f.Name(), validated, validated)); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// finish moves a new file to its place. If writing failed, the place is removed; if the place is no longer current,
// the file is removed.
func (d *disk) finish(key string, place *file, path string, size int64) (err error) {
	name := nameOf(key)
	d.index.Compute(name, func(current *file, _ bool) (*file, otter.ComputeOp) {
		if current != place {
			return nil, otter.CancelOp
		}
		if path == "" {
			return nil, otter.InvalidateOp
		}
		if err = os.Rename(path, d.path(name)); err != nil {
			return nil, otter.InvalidateOp
		}
		return &file{size, true}, otter.WriteOp
	})
	_ = os.Remove(path) // no effect if the file was moved
	return err
}

// touch records the validation time of an entry.
func (d *disk) touch(key string, validated time.Time) error {
	if err := os.Chtimes(d.path(nameOf(key)), validated, validated); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("touch cache file: %w", err)
	}
	return nil
}
