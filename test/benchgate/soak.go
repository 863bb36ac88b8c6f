package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// soakSettings are small, so that the caches fill up within minutes. The trace of the garbage collector contains the
// live heap after each collection.
var soakSettings = []string{
	"GATE_MEMORY_LIMIT=134217728", "GATE_CACHE_DISK_BYTES=33554432", "GATE_REVALIDATE_SECONDS=60", "GODEBUG=gctrace=1",
}

// soak sends a mixed load at a rate that a quarter of a processor can serve. It compares the first two sixths of the
// run with the last sixth.
func soak(p programs, span time.Duration, corpus string) error {
	o, err := newOrigin()
	if err != nil {
		return err
	}
	defer o.close()
	if o.corpus, err = readCorpus(corpus); err != nil {
		return err
	}
	kinds := slices.Sorted(maps.Keys(o.corpus))
	s, err := startGate(p, o.url, soakSettings...)
	if err != nil {
		return err
	}
	defer s.stop()
	var (
		mu      sync.Mutex
		codes   = map[string]map[int]int{"": {}, "corpus": {}}
		wait    sync.WaitGroup
		samples []sample
	)
	start := time.Now()
	ticker := time.NewTicker(80 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; time.Since(start) < span; n++ {
		<-ticker.C
		wait.Go(func() {
			of, code := "", 0
			if n%20 == 1 || n%20 == 7 || n%20 == 19 {
				of, code = "corpus", ofCorpus(s, kinds, n/20*3+n%20/7)
			} else {
				code = mixed(s, n)
			}
			mu.Lock()
			defer mu.Unlock()
			codes[of][code]++
		})
		if n%100 == 99 {
			samples = append(samples, s.sample())
		}
	}
	wait.Wait()
	fmt.Printf("%s, %.0f %% of a processor; responses by status (0: the client left): %s; of the corpus: %s", span,
		100*s.cpu().Seconds()/span.Seconds(), counted(codes[""]), counted(codes["corpus"]))
	part := len(samples) / 6
	fmt.Printf("\n\n| mean · maximum | first %[1]s | second %[1]s | last %[1]s |\n|---|---|---|---|\n", span/6)
	for i, name := range sampleNames {
		fmt.Printf("| %s | %s | %s | %s |\n", name,
			summary(samples[:part], i), summary(samples[part:2*part], i), summary(samples[len(samples)-part:], i))
	}
	return nil
}

// mixed sends the nth request of the load and returns its status.
func mixed(s *stack, n int) int {
	switch {
	case n%100 == 0:
		return get(s, fmt.Sprintf("/large%d.jpg?w=300", n)).code
	case n%7 == 3:
		return get(s, fmt.Sprintf("/small%d.jpg?w=300", n)).code
	case n%20 == 5:
		return get(s, fmt.Sprintf("/small%d.jpg", n)).code
	case n%20 == 9:
		return get(s, fmt.Sprintf("/none%d.jpg?w=300", n)).code
	case n%20 == 11:
		return get(s, fmt.Sprintf("/bad%d.jpg?w=300", n)).code
	case n%20 == 13:
		return get(s, "/small.jpg?w=9999").code
	case n%20 == 15:
		return do(s, http.MethodGet, "/small.jpg?w=300", http.Header{"Range": {"bytes=0-9"}}).code
	case n%20 == 17:
		return leave(s, fmt.Sprintf("/small%d.jpg?w=200", n))
	}
	return get(s, fmt.Sprintf("/small%d.jpg?w=100", n%50)).code
}

// ofCorpus sends the nth request for files of the corpus: all kinds, unchanged and with several transformations, and
// then all again as new images.
func ofCorpus(s *stack, kinds []string, n int) int {
	queries := []string{
		"", "w=90", "w=90&h=40", "w=60&h=60&fit=crop&crop=left", "auto=compress",
		"auto=format", "auto=format&q=50&w=90",
	}
	kind, round := kinds[n%len(kinds)], n/len(kinds)
	return do(s, http.MethodGet, fmt.Sprintf("/corpus/%d/%s?%s", round/len(queries), kind, queries[round%len(queries)]),
		webp).code
}

// leave cancels a request before its response.
func leave(s *stack, path string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return 0
	}
	response, err := client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// sample contains a value for each of sampleNames.
type sample [8]int

var sampleNames = [len(sample{})]string{
	"memory of the gate, MiB", "its heap after a collection, MiB", "its cache in memory, MiB", "heap less cache, MiB",
	"memory of Darkroom, MiB", "file descriptors of the gate", "file descriptors of Darkroom", "disk, KiB",
}

func (s *stack) sample() sample {
	heap, cached := s.liveHeap(), s.cached()
	return sample{
		field(s.gate.Process.Pid, "VmRSS"), heap, cached, heap - cached,
		field(s.darkroom.Process.Pid, "VmRSS"), descriptors(s.gate), descriptors(s.darkroom), s.disk(),
	}
}

// liveHeap returns the live heap of the gate after its last garbage collection, in MiB.
func (s *stack) liveHeap() int {
	trace, err := os.ReadFile(s.errorsOf(s.gate.Path))
	if err != nil {
		return 0
	}
	// gc 8 @0.9s 1%: … ms clock, … ms cpu, 4->4->2 MB, …: before, at the end, kept
	_, last, _ := strings.Cut(string(trace[bytes.LastIndex(trace, []byte("ms cpu, "))+1:]), ", ")
	sizes, _, _ := strings.Cut(last, " MB")
	kept, _ := strconv.Atoi(sizes[strings.LastIndexByte(sizes, '>')+1:])
	return kept
}

// cached is the size of the cache in memory in MiB.
func (s *stack) cached() int {
	response, err := http.Get(s.metrics)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	_, value, _ := strings.Cut(string(text), "\ndarkroom_gate_cache_bytes{tier=\"memory\"} ")
	value, _, _ = strings.Cut(value, "\n")
	size, _ := strconv.ParseFloat(value, 64)
	return int(size) >> 20
}

func descriptors(cmd *exec.Cmd) int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid)) // none if the process has ended
	return len(entries)
}

// disk is the size of the disk cache in KiB.
func (s *stack) disk() int {
	var total int64
	_ = filepath.WalkDir(s.cacheFolder(), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return int(total >> 10)
}

// summary is the mean and the maximum of one value.
func summary(samples []sample, i int) string {
	total, most := 0, 0
	for _, each := range samples {
		total, most = total+each[i], max(most, each[i])
	}
	return fmt.Sprintf("%d · %d", total/max(1, len(samples)), most)
}
