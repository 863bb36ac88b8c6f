package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// photoRows returns the rows of photos at the widths of web pages.
func photoRows() (rows []row) {
	add := func(name string, load func(*stack, *origin) string) {
		rows = append(rows, row{name: name, load: load, plain: true})
	}
	for _, width := range []int{300, 800, 1200} {
		add(fmt.Sprintf("40 different 12-megapixel photos at once, `w=%d`", width), photos("/large%d.jpg?w=%d", width, nil))
	}
	for _, width := range []int{300, 800, 1200} {
		add(fmt.Sprintf("40 different 12-megapixel photos at once, `w=%d` as WebP", width),
			photos("/large%d.jpg?auto=format&w=%d", width, webp))
	}
	add("40 different progressive 12-megapixel photos at once, `w=800`", photos("/progressive%d.jpg?w=%d", 800, nil))
	add("40 different PNG files of 1200×800 at once, `w=300`", photos("/png%d.png?w=%d", 300, nil))
	for _, width := range []int{300, 800, 1200} {
		add(fmt.Sprintf("one 12-megapixel photo at a time, `w=%d`", width), oneByOne(width))
	}
	add("8 sizes of one 12-megapixel photo at once", sizes)
	add("half a processor: 40 different 12-megapixel photos at once, `w=1200` as WebP", func(s *stack, o *origin) string {
		defer s.throttle()()
		return photos("/large-half%d.jpg?auto=format&w=%d", 1200, webp)(s, o)
	})
	add("a 12-megapixel photo as WebP of quality 75, `w=1200`, compared with ImageMagick's Lanczos filter", likeness)
	return rows
}

// photos requests a width of 40 originals at once.
func photos(path string, width int, header http.Header) func(*stack, *origin) string {
	return func(s *stack, _ *origin) string {
		return burst(s, 40, func(i int) answer { return do(s, http.MethodGet, fmt.Sprintf(path, i, width), header) })
	}
}

// sizes requests several widths of one original at the same time.
func sizes(s *stack, _ *origin) string {
	return burst(s, 8, func(i int) answer { return get(s, fmt.Sprintf("/large.jpg?w=%d", 150*(i+1))) })
}

// burst sends requests at once, and measures the first response, half of them, and all. It counts media types, because
// results that wait too long are not WebP and take less time.
func burst(s *stack, n int, send func(int) answer) string {
	start, before := time.Now(), s.cpu()
	times, types := make([]time.Duration, n), make([]string, n)
	codes := together(n, func(i int) answer {
		a := send(i)
		times[i], types[i] = time.Since(start), a.header.Get("Content-Type")
		return a
	})
	slices.Sort(times)
	kinds := map[string]int{}
	for _, kind := range types {
		kinds[kind]++
	}
	return fmt.Sprintf("%s, %s, first %.2f, half %.2f, all %.2f s, %.1f CPU-s, %s", codes, counted(kinds),
		times[0].Seconds(), times[n/2-1].Seconds(), times[n-1].Seconds(), (s.cpu() - before).Seconds(), s.peak())
}

// oneByOne requests a width of ten originals one after the other.
func oneByOne(width int) func(*stack, *origin) string {
	return func(s *stack, _ *origin) string {
		get(s, "/small-first.jpg?w=10") // warm up connections and code
		const n = 10
		before, start := s.cpu(), time.Now()
		for i := range n {
			if code := get(s, fmt.Sprintf("/large-alone%d.jpg?w=%d", i, width)).code; code != http.StatusOK {
				return fmt.Sprint(code)
			}
		}
		took := time.Since(start)
		return fmt.Sprintf("%.0f CPU-ms, %.0f ms, %s", ms(s.cpu()-before)/n, ms(took)/n, s.peak())
	}
}

// throttle limits the processes to half a processor until the returned function is called. Like a quota of a cgroup,
// it stops them when they have used their share of a period; unlike a cgroup it needs no privileges.
func (s *stack) throttle() (stop func()) {
	const period = 100 * time.Millisecond
	signal := func(signal syscall.Signal) {
		for _, pid := range s.pids() {
			_ = syscall.Kill(pid, signal) // a process that has ended uses no time
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer signal(syscall.SIGCONT)
		allowed := s.cpu()
		for next := time.Now(); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			if now := time.Now(); now.After(next) {
				next, allowed = now.Add(period), max(allowed, s.cpu()-period)+period/2
				signal(syscall.SIGCONT)
			}
			if s.cpu() >= allowed {
				signal(syscall.SIGSTOP)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// likeness compares a result with the original resized by ImageMagick.
func likeness(s *stack, o *origin) string {
	a := do(s, http.MethodGet, "/large-likeness.jpg?auto=format&w=1200&q=75", webp)
	if a.code != http.StatusOK {
		return fmt.Sprint(a.code)
	}
	in := func(name string) string { return filepath.Join(s.folder, name) }
	for name, body := range map[string][]byte{"original.jpg": o.large, "result.webp": a.body} {
		if err := os.WriteFile(in(name), body, 0o600); err != nil {
			return err.Error()
		}
	}
	// With eight bits for each color, ImageMagick would round down.
	reference := "PNG48:" + in("reference.png")
	if err := magick(in("original.jpg"), "-filter", "Lanczos", "-resize", "1200x", reference); err != nil {
		return err.Error()
	}
	// The program returns 1 for images that differ.
	decibels, _ := exec.Command("compare", "-metric", "PSNR", in("reference.png"), in("result.webp"), "null:").CombinedOutput()
	return fmt.Sprintf("%s, %d bytes, %s dB", a.header.Get("Content-Type"), len(a.body), bytes.TrimSpace(decibels))
}

// magick runs ImageMagick's convert.
func magick(args ...string) error {
	name := "convert-im6.q16" // Debian's
	if _, err := exec.LookPath(name); err != nil {
		name = "convert"
	}
	if output, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w %s", name, err, strings.TrimSpace(string(output)))
	}
	return nil
}
