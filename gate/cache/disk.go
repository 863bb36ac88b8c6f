package cache

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// fileOverhead is charged for each file, for its blocks and its place in the index.
const fileOverhead = 4096

// temporary is the prefix of files that are being written.
const temporary = "tmp-"

// digest identifies a key; its hexadecimal form is the name of the file.
type digest [sha256.Size]byte

// disk is a directory of entries, bounded in size. The least recently used ones are removed
// first. Files are complete or absent, because they are renamed when they are written.
type disk struct {
	folder   string
	capacity int64
	writers  chan struct{}

	mu    sync.Mutex
	used  int64
	files map[digest]*list.Element
	// order has the most recently used file in front.
	order   *list.List
	evicted func()
}

type file struct {
	name digest
	size int64
}

// openDisk indexes the files of an earlier process, oldest first.
func openDisk(folder string, capacity int64, evicted func()) (*disk, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("open disk cache: %w", err)
	}
	d := &disk{
		folder: folder, capacity: capacity, writers: make(chan struct{}, 4),
		files: map[digest]*list.Element{}, order: list.New(), evicted: evicted,
	}
	var found []fs.FileInfo
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), temporary) {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		} else if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			found = append(found, info)
		}
	}
	slices.SortFunc(found, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range found {
		var name digest
		if n, err := hex.Decode(name[:], []byte(info.Name())); err == nil && n == len(name) {
			d.insert(name, info.Size()+fileOverhead)
		}
	}
	d.reserve(0)
	return d, nil
}

func (d *disk) path(name digest) string {
	return filepath.Join(d.folder, hex.EncodeToString(name[:]))
}

// get returns nil without an error if there is no entry. A file that cannot be read or is
// corrupt is removed.
func (d *disk) get(key string) (*Entry, error) {
	name := digest(sha256.Sum256([]byte(key)))
	d.mu.Lock()
	element, ok := d.files[name]
	if ok {
		d.order.MoveToFront(element)
	}
	d.mu.Unlock()
	if !ok {
		return nil, nil
	}
	entry, err := d.read(key, name)
	if errors.Is(err, fs.ErrNotExist) { // evicted meanwhile
		return nil, nil
	}
	if err != nil {
		d.remove(name)
		return nil, err
	}
	return entry, nil
}

func (d *disk) read(key string, name digest) (*Entry, error) {
	f, err := os.Open(d.path(name))
	if err != nil {
		return nil, fmt.Errorf("open cache file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read cache file: %w", err)
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, fmt.Errorf("read cache file: %w", err)
	}
	entry, err := decode(key, content)
	if err != nil {
		return nil, err
	}
	entry.Validated = info.ModTime()
	return entry, nil
}

var errBusy = errors.New("too many cache files are being written")

// put writes an entry, replacing an earlier one. It does not wait for a slow disk: the entry
// is dropped if too many are being written.
func (d *disk) put(key string, e *Entry) error {
	select {
	case d.writers <- struct{}{}:
		defer func() { <-d.writers }()
	default:
		return errBusy
	}
	content, err := encode(key, e)
	if err != nil {
		return err
	}
	if int64(len(content)) > d.capacity/8 {
		return nil
	}
	size := int64(len(content)) + fileOverhead
	// Space is made first, so that the bound holds while the file is written.
	d.reserve(size)
	defer d.reserve(-size)
	written, err := d.write(content, e.Validated)
	if err != nil {
		return fmt.Errorf("write cache file: %w", err)
	}
	return d.commit(written, digest(sha256.Sum256([]byte(key))), size)
}

// write creates a temporary file and returns its path.
func (d *disk) write(content []byte, validated time.Time) (string, error) {
	f, err := os.CreateTemp(d.folder, temporary)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Chtimes(f.Name(), validated, validated)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
}

// commit renames a temporary file and adds it to the index.
func (d *disk) commit(written string, name digest, size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := os.Rename(written, d.path(name)); err != nil {
		_ = os.Remove(written)
		return fmt.Errorf("rename cache file: %w", err)
	}
	d.insert(name, size)
	return nil
}

// touch records that an entry was validated.
func (d *disk) touch(key string, validated time.Time) error {
	name := digest(sha256.Sum256([]byte(key)))
	d.mu.Lock()
	_, ok := d.files[name]
	d.mu.Unlock()
	if !ok {
		return nil
	}
	if err := os.Chtimes(d.path(name), validated, validated); err != nil {
		return fmt.Errorf("touch cache: %w", err)
	}
	return nil
}

// insert adds a file to the index.
func (d *disk) insert(name digest, size int64) {
	d.drop(name)
	d.files[name] = d.order.PushFront(file{name, size})
	d.used += size
}

// reserve counts size as used and removes files until the rest fits. A negative size
// returns what was reserved.
func (d *disk) reserve(size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used += size
	for d.used > d.capacity && d.order.Len() > 0 {
		oldest := d.order.Back().Value.(file).name
		d.drop(oldest)
		_ = os.Remove(d.path(oldest))
		d.evicted()
	}
}

// drop removes a file from the index.
func (d *disk) drop(name digest) {
	if element, ok := d.files[name]; ok {
		d.used -= d.order.Remove(element).(file).size
		delete(d.files, name)
	}
}

func (d *disk) remove(name digest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(name)
	_ = os.Remove(d.path(name))
}

func (d *disk) usage() (bytes int64, files int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used, len(d.files)
}
