package cache

import (
	"log/slog"

	"github.com/maypok86/otter/v2"
)

// entryOverhead is charged for each entry in memory: its headers and place.
const entryOverhead = 1024

// Options configure a Cache.
type Options struct {
	// Memory bounds the entries in memory, in bytes.
	Memory int64
	// Folder of the disk cache; empty disables it.
	Folder string
	// Disk bounds the files in Folder, in bytes.
	Disk int64
	// Evicted is called for each entry that is removed to make space, with its tier.
	Evicted func(tier string)
	// Failed is called for each file that could not be read or written.
	Failed func()
	Log    *slog.Logger
}

// Names of the tiers.
const (
	TierMemory = "memory"
	TierDisk   = "disk"
)

// Cache has two tiers. Its methods are safe for concurrent use.
type Cache struct {
	options Options
	memory  *otter.Cache[string, *Entry]
	disk    *disk
}

// New opens the cache. A folder that cannot be used is logged and left out: a gate without
// disk serves images, a gate that does not start serves none.
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

// Recent returns an entry that is in memory, or nil.
func (c *Cache) Recent(key string) *Entry {
	entry, _ := c.memory.GetIfPresent(key)
	return entry
}

// Get returns an entry, or nil.
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
	if c.remember(key, entry); !c.disk.has(key, of) {
		c.memory.Invalidate(key) // it was removed or replaced meanwhile
	}
	return entry
}

// Put stores an entry. The disk is written in the background.
func (c *Cache) Put(key string, e *Entry) {
	if c.disk != nil {
		place := c.disk.claim(key)
		go func() { c.observe("write", c.disk.put(key, e, place)) }()
	}
	c.remember(key, e)
}

// Revalidate stores the time of validation of an entry that has not changed otherwise.
func (c *Cache) Revalidate(key string, e *Entry) {
	c.remember(key, e)
	if c.disk != nil {
		c.observe("touch", c.disk.touch(key, e.Validated))
	}
}

// Remove drops an entry.
func (c *Cache) Remove(key string) {
	if c.disk != nil {
		c.disk.index.Invalidate(nameOf(key))
	}
	c.memory.Invalidate(key)
}

// remember stores an entry in memory unless it would displace many others.
func (c *Cache) remember(key string, e *Entry) {
	if weight(key, e) <= c.options.Memory/8 {
		c.memory.Set(key, e)
	} else {
		c.memory.Invalidate(key)
	}
}

// observe reports a failure of the disk.
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
