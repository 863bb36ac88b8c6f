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

// progress reports on out how a build goes.
type progress struct {
	out     io.Writer
	started time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, started: time.Now()} }

func (p *progress) say(format string, args ...any) {
	fmt.Fprintf(p.out, "%4s  %s\n", time.Since(p.started).Round(time.Second), fmt.Sprintf(format, args...))
}

// beat says at intervals how many packages are compiled, until done is closed. Of a number of
// packages those that are in the build cache are not compiled.
func (p *progress) beat(log *compileLog, packages int, done <-chan struct{}) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			p.say("%d of at most %d packages compiled", log.packages.Load(), packages)
		}
	}
}
