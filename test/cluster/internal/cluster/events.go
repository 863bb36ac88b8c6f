package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// event is what a supervisor tells the `cluster up` that waits for it: one
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
	// Nobody may be listening any more; the log has it.
	_ = json.NewEncoder(r.pipe).Encode(event{kind, text})
}

// step tells about progress, with the seconds since the start.
func (r *reporter) step(what string) {
	r.report(stepEvent, "%5.1fs  %s", time.Since(r.started).Seconds(), what)
}

// follow shows the steps on out until the supervisor says that it is ready
// (nil) or has failed, or ends without a word.
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

// errSilent says that a supervisor ended without saying why.
var errSilent = errors.New("the supervisor ended before the cluster was ready")
