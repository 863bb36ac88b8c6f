package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// event is a message of a supervisor to the `cluster up` that waits for it: one
// JSON object a line, over a pipe.
type event struct {
	Kind eventKind `json:"kind"`
	Text string    `json:"text,omitempty"`
}

type eventKind string

const (
	stepEvent   eventKind = "step"
	readyEvent  eventKind = "ready"
	failedEvent eventKind = "failed"
)

// reporter sends events, and logs them for those who come later.
type reporter struct {
	pipe    io.Writer
	log     io.Writer
	started time.Time
}

func (r *reporter) report(kind eventKind, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(r.log, "%s %s: %s\n", time.Now().Format("15:04:05.000"), kind, text)
	// The reader may have ended already; the log has the event.
	_ = json.NewEncoder(r.pipe).Encode(event{kind, text})
}

// step reports progress, with the seconds since the start.
func (r *reporter) step(what string) {
	r.report(stepEvent, "%5.1fs  %s", time.Since(r.started).Seconds(), what)
}

// follow prints the steps to out until the supervisor reports that it is ready
// (nil) or has failed, or ends without a report.
func follow(pipe io.Reader, out io.Writer) error {
	scanner := bufio.NewScanner(pipe)
	scanner.Buffer(make([]byte, 0, 64*1024), 1<<22)
	for scanner.Scan() {
		var e event
		if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
			return fmt.Errorf("understand the supervisor: %w", err)
		}
		switch e.Kind {
		case readyEvent:
			return nil
		case failedEvent:
			return fmt.Errorf("%s", e.Text)
		case stepEvent:
			fmt.Fprintln(out, e.Text)
		}
	}
	return errSilent
}

// errSilent is returned when a supervisor ends without reporting a reason.
var errSilent = errors.New("the supervisor ended before the cluster was ready")
