package live_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/live"
)

// logged is a line of a log.
type logged struct {
	at   time.Time
	text string
}

// from returns the lines since a second, as a kubelet sends them.
func from(log []logged, second time.Time) string {
	var out strings.Builder
	for _, line := range log {
		if !line.at.Before(second) {
			fmt.Fprintf(&out, "%s %s\n", line.at.Format("2006-01-02T15:04:05.000000000Z07:00"), line.text)
		}
	}
	return out.String()
}

var errBroken = errors.New("broken")

// received returns what a client gets of a log, and the id of its last event.
func received(t testing.TB, lines *live.Lines) (texts []string, id string, ended bool) {
	w := httptest.NewRecorder()
	_ = lines.Run(t.Context(), w) // why it ended is what the client sees
	var kind, next string
	scanner := bufio.NewScanner(w.Body)
	for scanner.Buffer(nil, 1<<20); scanner.Scan(); {
		switch name, value, _ := strings.Cut(scanner.Text(), ": "); name {
		case "id":
			next = value
		case "event":
			kind = value
		case "data":
			if kind == "ended" {
				ended = true
				continue
			}
			var text string
			if err := json.Unmarshal([]byte(value), &text); err != nil {
				t.Fatalf("the event is %q: %v", value, err)
			}
			texts, id = append(texts, text), next
		}
	}
	return texts, id, ended
}

func TestALogThatIsResumedLosesAndRepeatsNoLine(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(r *rapid.T) {
		var log []logged
		var want []string
		at := start
		for i := range rapid.IntRange(0, 40).Draw(r, "lines") {
			steps := []time.Duration{0, 0, 1, time.Millisecond, 400 * time.Millisecond, 3 * time.Second}
			at = at.Add(rapid.SampledFrom(steps).Draw(r, "step"))
			text := rapid.SampledFrom([]string{"", "a", "a b", "\"", "x\ry", "data: x"}).Draw(r, "text") + fmt.Sprint(i)
			log, want = append(log, logged{at, text}), append(want, text)
		}
		var got []string
		var id string
		for {
			after := live.ParseLine(id)
			all := from(log, after.Time.Truncate(time.Second))
			cut := rapid.IntRange(0, len(all)+200).Draw(r, "cut")
			in := io.Reader(strings.NewReader(all))
			if cut < len(all) {
				in = io.MultiReader(strings.NewReader(all[:cut]), errReader{})
			}
			texts, last, ended := received(t, &live.Lines{Log: in, After: after, Heartbeat: time.Hour})
			got = append(got, texts...)
			if last != "" {
				id = last
			}
			if ended != (cut >= len(all)) {
				r.Fatalf("the log of %d bytes, of which %d were read, has ended: %t", len(all), cut, ended)
			}
			if ended {
				break
			}
		}
		if !slices.Equal(got, want) {
			r.Fatalf("the client has %q, want %q", got, want)
		}
	})
}

// errReader is a connection that breaks.
type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

func TestLongLinesAreCutAndWhatHasNoTimeIsSent(t *testing.T) {
	at := "2026-01-01T00:00:00.000000001Z "
	log := at + strings.Repeat("x", 1<<20) + "\r\nfailed to watch the log\n" + at + "last"
	texts, id, ended := received(t, &live.Lines{Log: strings.NewReader(log), Heartbeat: time.Hour})
	rest := []string{"failed to watch the log", "last"}
	if len(texts) != 3 || len(texts[0]) > 64<<10 || !slices.Equal(texts[1:], rest) || !ended {
		t.Errorf("%d lines, ended %t, the last %q", len(texts), ended, texts[1:])
	}
	if id != "2026-01-01T00:00:00.000000001Z/2" {
		t.Errorf("the id is %s", id)
	}
	texts, _, _ = received(t, &live.Lines{Log: strings.NewReader(log), Timestamps: true, Heartbeat: time.Hour})
	if texts[2] != at+"last" {
		t.Errorf("with its time, the line is %q", texts[2])
	}
}

func TestALogOfAnotherContainerIsSentAsAWhole(t *testing.T) {
	after := live.ParseLine("2026-01-01T00:00:00.5Z/3")
	log := strings.NewReader("2026-01-01T00:00:00.6Z new\n")
	texts, _, _ := received(t, &live.Lines{Log: log, After: after, Heartbeat: time.Hour})
	if !slices.Equal(texts, []string{"new"}) {
		t.Errorf("the lines are %q", texts)
	}
	for _, invalid := range []string{
		"", "x", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z/0", "2026-01-01T00:00:00Z/x", "E-7/*",
	} {
		if line := live.ParseLine(invalid); line != (live.Line{}) {
			t.Errorf("%q names the line %v", invalid, line)
		}
	}
}
