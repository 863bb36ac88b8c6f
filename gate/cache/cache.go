package cache

import (
	"log/slog"

	"github.com/maypok86/otter/v2"
)

// entryOverhead is the memory of an entry in addition to its body.
const entryOverhead = 1024

// Options configure a Cache.
type Options struct {
	// Memory bounds the entries in memory, in bytes.
	Memory int64
	// Folder is the directory of the disk cache; empty disables it.
	Folder string
	// Disk bounds the files in Folder, in bytes.
	Disk int64
	// Evicted is called with the tier of each entry that is evicted.
	Evicted func(tier string)
	// Failed is called for each file that cannot be read or written.
	Failed func()
	Log    *slog.Logger
}

// Names of the tiers.
const (
	TierMemory = "memory"
	TierDisk   = "disk"
)

// Cache keeps entries in memory and on disk. Its methods are safe for concurrent use.
type Cache struct {
	options Options
	memory  *otter.Cache[string, *Entry]
	disk    *disk
}

// New opens the cache. If the folder cannot be used, the error is logged and the cache works in memory only, so that
// the gate can serve images without its disk.
func New(options Options) *Cache {
	memory := otter.Must(&otter.Options[string, *Entry]{
		MaximumWeight: uint64(max(options.Memory, 1)),
		Weigher:       func(key string, e *Entry) uint32 { return uint32(weight(key, e)) }, //nolint:gosec // see put
		OnDeletion: func(e otter.DeletionEvent[string, *Entry]) {
			if e.WasEvicted() {
				options.Evicted(TierMemory)
			}
		},
	})
	c := &Cache{options: options, memory: memory}
	if options.Folder != "" {
		var err error
		c.disk, err = openDisk(options.Folder, options.Disk, max(1, options.Memory/4), func() { options.Evicted(TierDisk) })
		c.observe("open", err)
	}
	return c
}

func weight(key string, e *Entry) int64 {
	return int64(len(key)+len(e.Source.ETag)+len(e.Source.LastModified)) + e.Size() + entryOverhead
}

// Recent returns an entry from memory, or nil.
func (c *Cache) Recent(key string) *Entry {
	entry, _ := c.memory.GetIfPresent(key)
	return entry
}

// Get returns an entry from memory or disk, or nil.
func (c *Cache) Get(key string) *Entry {
	entry, ok := c.memory.GetIfPresent(key)
	if ok || c.disk == nil {
		return entry
	}
	entry, of, err := c.disk.get(key)
	c.observe("read", err)
	if entry == nil {
		return nil
	}
	c.disk.ifCurrent(key, of, func() { c.remember(key, entry) })
	return entry
}

// Put stores an entry. The file is written in the background.
func (c *Cache) Put(key string, e *Entry) {
	if c.disk != nil {
		place := c.disk.claim(key)
		go func() { c.observe("write", c.disk.put(key, e, place)) }()
	}
	c.remember(key, e)
}

// Revalidate stores the validation time of an otherwise unchanged entry.
func (c *Cache) Revalidate(key string, e *Entry) {
	c.remember(key, e)
	if c.disk != nil {
		c.observe("touch", c.disk.touch(key, e.Validated))
	}
}

// Remove removes an entry from memory and disk.
func (c *Cache) Remove(key string) {
	if c.disk != nil {
		c.disk.index.Invalidate(nameOf(key))
	}
	c.memory.Invalidate(key)
}

// remember stores an entry in memory, unless the entry would displace many others.
func (c *Cache) remember(key string, e *Entry) {
	if weight(key, e) <= c.options.Memory/8 {
		c.memory.Set(key, e)
	} else {
		c.memory.Invalidate(key)
	}
}

// observe logs and counts a failure of the disk.
func (c *Cache) observe(operation string, err error) {
	if err != nil {
		c.options.Failed()
		c.options.Log.Warn("Disk cache failed", "operation", operation, "error", err)
	}
}

// Usage returns the bytes and entries of a tier.
func (c *Cache) Usage(tier string) (bytes int64, entries int) {
	switch {
	case tier == TierMemory:
		return int64(c.memory.WeightedSize()), c.memory.EstimatedSize() //nolint:gosec // bounded by Memory
	case c.disk != nil:
		return int64(c.disk.index.WeightedSize()), c.disk.index.EstimatedSize() //nolint:gosec // bounded by Disk
	}
	return 0, 0
}
