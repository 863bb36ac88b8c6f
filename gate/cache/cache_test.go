package cache

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

func open(t *testing.T, folder string, memory, disk int64) (*Cache, *int) {
	t.Helper()
	failures := new(int)
	c := New(Options{
		Memory: memory, Folder: folder, Disk: disk, Evicted: func(string) {}, Failed: func() { *failures++ },
		Log: slog.New(slog.DiscardHandler),
	})
	return c, failures
}

func entry(size int) *Entry {
	e := NewEntry(bytes.Repeat([]byte{7}, size), "image/jpeg", Origin{Validated: time.Unix(1000, 0)})
	e.Source.ETag = `"1"`
	return e
}

// store writes an entry synchronously to the disk only.
func store(c *Cache, key string, e *Entry) error { return c.disk.put(key, e, c.disk.claim(key)) }

func TestEntriesSurviveARestart(t *testing.T) {
	folder := t.TempDir()
	first, _ := open(t, folder, 1<<20, 1<<20)
	want := entry(100)
	if err := store(first, "/a?", want); err != nil {
		t.Fatal(err)
	}
	second, _ := open(t, folder, 1<<20, 1<<20)
	got := second.Get("/a?")
	if got == nil || !bytes.Equal(got.Body, want.Body) || got.ETag != want.ETag ||
		got.Source != want.Source || !got.Validated.Equal(want.Validated) {
		t.Fatalf("got %+v", got)
	}
	if again := second.Get("/a?"); again != got {
		t.Error("not in memory the second time")
	}
}

func TestACorruptFileIsAMissAndIsRemoved(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"truncated":   func(b []byte) []byte { return b[:len(b)-1] },
		"bit flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"empty":       func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			first, _ := open(t, folder, 1<<20, 1<<20)
			if err := store(first, "/a?", entry(100)); err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob(filepath.Join(folder, "*"))
			content, _ := os.ReadFile(files[0])
			if err := os.WriteFile(files[0], damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			second, failures := open(t, folder, 1<<20, 1<<20)
			if got := second.Get("/a?"); got != nil || *failures != 1 {
				t.Errorf("got %v, %d failures", got, *failures)
			}
			if files, _ := filepath.Glob(filepath.Join(folder, "*")); len(files) != 0 {
				t.Errorf("files remain: %v", files)
			}
		})
	}
}

func TestAFileOfAnotherKeyIsNotServed(t *testing.T) {
	file, err := encode("/a?", entry(10))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode("/b?", file); err == nil {
		t.Errorf("decoded %v", got)
	}
}

func TestBothTiersAreBounded(t *testing.T) {
	folder := t.TempDir()
	const memory, disk = 100 << 10, 200 << 10
	c, _ := open(t, folder, memory, disk)
	for i := range 1000 {
		key := fmt.Sprintf("/%d?", i)
		c.remember(key, entry(5000))
		if err := store(c, key, entry(5000)); err != nil {
			t.Fatal(err)
		}
	}
	c.memory.CleanUp()
	for tier, bound := range map[string]int64{TierMemory: memory, TierDisk: disk} {
		if used, entries := c.Usage(tier); used > bound || entries == 0 {
			t.Errorf("%s: %d bytes in %d entries, want at most %d", tier, used, entries, bound)
		}
	}
	var total int64
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		info, _ := f.Info()
		total += info.Size()
	}
	if total > disk {
		t.Errorf("%d bytes on disk", total)
	}
}

func TestADiskThatFailsIsAMissingTier(t *testing.T) {
	folder := t.TempDir()
	c, failures := open(t, folder, 1<<20, 1<<20)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := store(c, "/a?", entry(10)); err == nil {
		t.Error("written to a folder that is gone")
	}
	synctest.Test(t, func(*testing.T) {
		c.Put("/a?", entry(10))
		synctest.Wait()
	})
	if got := c.Get("/a?"); got == nil || *failures != 1 {
		t.Errorf("got %v, %d failures", got, *failures)
	}
	if c, failures := open(t, filepath.Join(folder, "none"), 1<<20, 1<<20); c.disk != nil || *failures != 1 {
		t.Errorf("opened a folder that does not exist")
	}
}

func TestARevalidatedEntryKeepsItsTimeOnDisk(t *testing.T) {
	folder := t.TempDir()
	c, _ := open(t, folder, 1<<20, 1<<20)
	if err := store(c, "/a?", entry(10)); err != nil {
		t.Fatal(err)
	}
	validated := entry(10)
	validated.Validated = time.Unix(2000, 0)
	c.Revalidate("/a?", validated)
	again, _ := open(t, folder, 1<<20, 1<<20)
	if got := again.Get("/a?"); got == nil || !got.Validated.Equal(time.Unix(2000, 0)) {
		t.Errorf("got %+v", got)
	}
	c.Remove("/a?")
	if got := c.Get("/a?"); got != nil {
		t.Error("still there after removal")
	}
}

func TestAnEntryThatCannotBeStoredDropsTheEarlierOne(t *testing.T) {
	for name, damage := range map[string]func(*disk) *Entry{
		"slow disk": func(d *disk) *Entry {
			for range maxWriters {
				d.writers <- struct{}{}
			}
			return entry(20)
		},
		"too large": func(d *disk) *Entry { return entry(int(d.largest) + 1) },
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := open(t, t.TempDir(), 1, 1<<20) // nothing stays in memory
			if err := store(c, "/a?", entry(10)); err != nil {
				t.Fatal(err)
			}
			if err := store(c, "/a?", damage(c.disk)); err != nil {
				t.Fatal(err)
			}
			if got := c.Get("/a?"); got != nil {
				t.Errorf("an image that had been replaced is back: %d bytes", len(got.Body))
			}
		})
	}
}

// The capacity is 80 % of the volume. Files that are being written are not in the index, and must fit into the rest.
func TestFilesThatAreBeingWrittenFitBesideTheOthers(t *testing.T) {
	const capacity = 1 << 20
	c, _ := open(t, t.TempDir(), 1, capacity)
	if most := int64(cap(c.disk.writers)) * c.disk.largest; most == 0 || most > capacity/8 {
		t.Errorf("%d bytes at the same time, for a capacity of %d", most, capacity)
	}
}

func TestReadsOfTheDiskWaitForMemory(t *testing.T) {
	c, _ := open(t, t.TempDir(), 4000, 1<<20)
	if err := store(c, "/a?", entry(900)); err != nil { // in memory, it would displace too many others
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if !c.disk.reading.TryAcquire(4000 / 4) {
			t.Fatal("more was read than fits")
		}
		var got *Entry
		go func() { got = c.Get("/a?") }()
		synctest.Wait()
		if got != nil {
			t.Error("read while others read as much as there is memory")
		}
		c.disk.reading.Release(4000 / 4)
		synctest.Wait()
		if got == nil {
			t.Error("not read afterwards")
		}
	})
}

// A damaged file is never served: it is read unchanged, for its key, or not at all.
func TestRandomDamageIsNotServed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 50_000 {
		key := fmt.Sprintf("/%d?w=%d", random.IntN(100), random.IntN(100))
		want := entry(random.IntN(200))
		file, err := encode(key, want)
		if err != nil {
			t.Fatal(err)
		}
		damaged := bytes.Clone(file)
		switch i % 4 {
		case 0:
			damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		case 1:
			damaged = damaged[:random.IntN(len(damaged))]
		case 2:
			damaged = append(damaged, byte(random.IntN(256)))
		case 3:
			key = "/other" + key
		}
		if got, err := decode(key, damaged); err == nil {
			t.Fatalf("%s: %+v from a damaged file", key, got)
		}
	}
}

// decode never panics, and reads what encode has written.
func FuzzDecode(f *testing.F) {
	valid, err := encode("/a?w=1", entry(20))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("/a?w=1", valid)
	f.Add("/b", []byte{})
	f.Fuzz(func(t *testing.T, key string, file []byte) {
		if got, err := decode(key, file); err == nil {
			again, err := encode(key, got)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := decode(key, again); err != nil || !bytes.Equal(same.Body, got.Body) {
				t.Fatalf("%v %v", same, err)
			}
		}
		e := NewEntry(file, key, Origin{Validated: time.Now()})
		e.Source.ETag = key
		if encoded, err := encode("k", e); err == nil {
			if got, err := decode("k", encoded); err != nil || !bytes.Equal(got.Body, file) {
				t.Fatalf("round trip: %v", err)
			}
		}
	})
}

// An entry is kept in memory unless it exceeds an eighth of the memory, and on disk unless it exceeds a sixteenth of
// the disk space.
func TestAnEntryDoesNotDisplaceManyOthers(t *testing.T) {
	const memory, diskSize = 1 << 16, 1 << 16
	c, failures := open(t, t.TempDir(), memory, diskSize)
	property.Check(t, func(rt *rapid.T) {
		around := rapid.SampledFrom([]int{memory / 8, diskSize / 16}).Draw(rt, "around")
		e := entry(max(0, around+rapid.IntRange(-2000, 2000).Draw(rt, "more")))
		file, err := encode("/a?", e)
		if err != nil {
			rt.Fatal(err)
		}
		excess := len(file) - diskSize/16 // one byte decides
		if rapid.Bool().Draw(rt, "just about") && excess < len(e.Body) {
			e = entry(len(e.Body) - excess + rapid.IntRange(-1, 1).Draw(rt, "byte"))
			file, _ = encode("/a?", e)
		}
		c.remember("/a?", e)
		if kept := c.Recent("/a?") != nil; kept != (weight("/a?", e) <= memory/8) {
			rt.Fatalf("weight %d of %d: in memory %t", weight("/a?", e), memory, kept)
		}
		if err := store(c, "/a?", e); err != nil {
			rt.Fatal(err)
		}
		if _, kept := c.disk.index.GetIfPresent(nameOf("/a?")); kept != (len(file) <= diskSize/16) {
			rt.Fatalf("%d bytes of %d: on disk %t", len(file), diskSize, kept)
		}
	})
	if *failures != 0 {
		t.Errorf("%d failures", *failures)
	}
}

func TestAFileThatCannotBeStoredLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	c, _ := open(t, folder, 1<<20, 1<<20)
	inTheWay := filepath.Join(folder, nameOf("/a?"))
	if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := store(c, "/a?", entry(10)); err == nil {
		t.Error("no error")
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Errorf("%v", entries)
	}
}

func TestAnEntryThatIsNoLongerOnDiskIsRevalidatedInMemory(t *testing.T) {
	folder := t.TempDir()
	c, failures := open(t, folder, 1<<20, 1<<20)
	e := entry(10)
	if c.Revalidate("/a?", e); *failures != 0 || c.Recent("/a?") != e {
		t.Errorf("%+v, %d failures", c.Recent("/a?"), *failures)
	}
	c.disk.folder = string([]byte{0}) // no system has such a folder
	if c.Revalidate("/a?", e); *failures != 1 {
		t.Errorf("%d failures", *failures)
	}
}

// For random operations, with or without waiting for the disk, an entry is the last one stored, unless that was
// removed. This also holds in the next process.
func TestOnlyWhatWasStoredLastIsServed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		folder, memory := t.TempDir(), rapid.SampledFrom([]int64{1, 1 << 20}).Draw(rt, "memory")
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"put", "remove", "get", "read", "written", "restart"}),
			1, 30).Draw(rt, "steps")
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"/a?", "/b?"}), len(steps), len(steps)).Draw(rt, "keys")
		var failure string
		synctest.Test(t, func(t *testing.T) {
			c, _ := open(t, folder, memory, 1<<20)
			last := map[string]*Entry{}
			check := func(key string) {
				if got := c.Get(key); got != nil && (last[key] == nil || got.ETag != last[key].ETag) {
					failure = fmt.Sprintf("%s: %d bytes are served of an entry that was replaced or removed", key, len(got.Body))
				}
			}
			for i, step := range steps {
				key := keys[i]
				switch step {
				case "put":
					last[key] = entry(i)
					c.Put(key, last[key])
				case "remove":
					delete(last, key)
					c.Remove(key)
				case "get":
					check(key)
				case "read":
					go c.Get(key)
				case "written":
					synctest.Wait()
				case "restart":
					synctest.Wait()
					c, _ = open(t, folder, memory, 1<<20)
				}
			}
			synctest.Wait()
			check("/a?")
			check("/b?")
		})
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}
