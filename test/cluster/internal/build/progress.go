package build

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// heartbeat is how long a build may be silent: longer looks like a hang.
const heartbeat = 15 * time.Second

// compileLog reads the standard error of `go build -v`. It counts the names of
// compiled packages and keeps everything else, which is what the compiler
// complained about.
type compileLog struct {
	packages atomic.Int64
	other    []string
}

func (l *compileLog) read(r io.Reader) {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 0, 64*1024), 1<<20)
	for scanner.Scan() {
		if line := scanner.Text(); isPackage(line) {
			l.packages.Add(1)
		} else {
			l.other = append(l.other, line)
		}
	}
}

// complaint returns the last lines that were not names of packages.
func (l *compileLog) complaint() string {
	const keep = 30
	return strings.Join(l.other[max(0, len(l.other)-keep):], "\n")
}

// isPackage reports whether a line of `go build -v` is the import path of a
// package, not a message.
func isPackage(line string) bool {
	return line != "" && !strings.ContainsAny(line, " :\t#")
}

// progress tells on out how the build of one component goes.
type progress struct {
	out     io.Writer
	label   string // such as "[2/6] etcd v3.6.8"
	started time.Time
}

func newProgress(out io.Writer, i, n int, name, version string) *progress {
	return &progress{out: out, label: fmt.Sprintf("[%d/%d] %s %s", i, n, name, version), started: time.Now()}
}

func (p *progress) say(format string, args ...any) {
	fmt.Fprintf(p.out, "%s: %s\n", p.label, fmt.Sprintf(format, args...))
}

// beat says every so often how far it is, until done is closed.
func (p *progress) beat(log *compileLog, done <-chan struct{}) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			p.say("%s", p.still(log.packages.Load()))
		}
	}
}

func (p *progress) still(packages int64) string {
	if packages == 0 {
		return fmt.Sprintf("still busy after %s: fetching modules or reading the build cache", p.elapsed())
	}
	return fmt.Sprintf("still busy after %s, %d packages compiled", p.elapsed(), packages)
}

func (p *progress) elapsed() time.Duration { return time.Since(p.started).Round(time.Second) }
