package live

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxLine is the length that longer lines of a log are cut to, in bytes.
const maxLine = 64 << 10

// Lines sends the log of a pod that is followed to one client: an event line for each, and an event ended. The id of an
// event names the line, so that a client that lost the connection resumes without losing or repeating one.
type Lines struct {
	// Log is the log, each line with its time.
	Log io.Reader
	// After is the last line that the client has; zero for a client that begins.
	After Line
	// Timestamps has the client get the times.
	Timestamps bool
	// Heartbeat is the interval of heartbeats, by which each side notices that the connection is dead.
	Heartbeat time.Duration
}

// Line names a line of a log: its time, and how many lines of that time there are up to it.
type Line struct {
	Time time.Time
	N    int
}

// String is the id of an event.
func (l Line) String() string { return l.Time.UTC().Format(time.RFC3339Nano) + "/" + strconv.Itoa(l.N) }

// ParseLine returns the line that an id names; zero for an invalid one.
func ParseLine(id string) Line {
	at, count, _ := strings.Cut(id, "/")
	moment, err := time.Parse(time.RFC3339Nano, at)
	n, badCount := strconv.Atoi(count)
	if err != nil || badCount != nil || n < 1 {
		return Line{}
	}
	return Line{Time: moment, N: n}
}

// Run sends lines until there is a reason to end, which it returns. The context ends the log too.
func (l *Lines) Run(ctx context.Context, w http.ResponseWriter) error {
	out := newWriter(w, false)
	if err := out.open(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces := make(chan []string)
	failed := make(chan error, 1)
	go func() { failed <- read(ctx, l.Log, pieces) }()
	heartbeat := time.NewTicker(l.Heartbeat)
	defer heartbeat.Stop()
	position := &position{after: l.After}
	for {
		select {
		case lines := <-pieces:
			if err := l.send(out, position, lines); err != nil {
				return err
			}
		case err := <-failed:
			if errors.Is(err, io.EOF) {
				return out.event("ended", "", struct{}{})
			}
			return fmt.Errorf("read the log: %w", err)
		case <-heartbeat.C:
			if err := out.write(": heartbeat\n\n"); err != nil {
				return err
			}
		case <-ctx.Done():
			return errClientGone
		}
	}
}

// send sends those of the lines that the client does not have.
func (l *Lines) send(out *writer, position *position, lines []string) error {
	out.collect()
	for _, line := range lines {
		at, text, _ := strings.Cut(line, " ")
		moment, err := time.Parse(time.RFC3339Nano, at)
		id := ""
		switch {
		case err != nil:
			text = line // Not of the container, but of what reads its log.
		case !position.pass(moment):
			continue
		default:
			id = position.now.String()
		}
		if l.Timestamps {
			text = line
		}
		if err := out.event("line", id, text); err != nil {
			return err
		}
	}
	return out.release()
}

// position is where a client is in a log that was opened again, a little before that.
type position struct {
	after, now Line
}

// pass goes on to a line of a time, and reports whether the client lacks it.
func (p *position) pass(moment time.Time) bool {
	if !moment.Equal(p.now.Time) {
		p.now = Line{Time: moment}
	}
	p.now.N++
	switch {
	case p.after.N == 0:
		return true
	case moment.After(p.after.Time):
		// The line that the client has is gone: the log was rotated, or is that of another container.
		p.after = Line{}
		return true
	case p.now.N == p.after.N && moment.Equal(p.after.Time):
		p.after = Line{}
	}
	return false
}

// read reads a log until it ends, and returns why. Lines that arrive together are sent together. Long ones are cut. A
// part of a line is one only at the end of the log.
func read(ctx context.Context, log io.Reader, pieces chan<- []string) error {
	in := bufio.NewReaderSize(log, maxLine)
	var lines []string
	for {
		line, err := in.ReadSlice('\n')
		text := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err == nil || errors.Is(err, io.EOF) && text != "" {
			lines = append(lines, text)
		}
		if len(lines) == 0 {
			return err
		}
		if waiting, _ := in.Peek(in.Buffered()); err == nil && bytes.IndexByte(waiting, '\n') >= 0 {
			continue
		}
		select {
		case pieces <- lines:
			lines = nil
		case <-ctx.Done():
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}
