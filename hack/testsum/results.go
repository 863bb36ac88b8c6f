package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

// counts are numbers of tests. A test with subtests is not counted besides them,
// unless it failed and they did not.
type counts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed", c.Passed, c.Failed)
}

type testName struct{ pkg, test string }

// results follows a stream of events.
type results struct {
	out     io.Writer
	verbose bool
	// output is what tests and packages that run have printed.
	output map[testName]*bytes.Buffer
	// outcome is the last word on tests and (with an empty test) packages.
	outcome map[testName]string
}

func newResults(out io.Writer, verbose bool) *results {
	return &results{out: out, verbose: verbose, output: map[testName]*bytes.Buffer{}, outcome: map[testName]string{}}
}

// add takes one line of the stream. What is no event is shown as it is.
func (r *results) add(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		_, _ = r.out.Write(line)
		return
	}
	name := testName{e.Package, e.Test}
	switch e.Action {
	case "output", "build-output":
		r.print(name, e.Output)
	case "pass", "fail", "skip":
		r.outcome[name] = e.Action
		if e.Action == "fail" || e.Test == "" {
			r.flush(name, e.Action == "fail")
		}
		delete(r.output, name)
	}
}

// print shows a line of output, or keeps it until the end of its test or package.
func (r *results) print(name testName, text string) {
	if r.verbose || name.pkg == "" {
		_, _ = io.WriteString(r.out, text)
		return
	}
	if r.output[name] == nil {
		r.output[name] = &bytes.Buffer{}
	}
	r.output[name].WriteString(text)
}

// flush shows what was kept: all of it, or the one line about a package that passed.
func (r *results) flush(name testName, all bool) {
	kept := r.output[name]
	if kept == nil {
		return
	}
	for line := range strings.Lines(kept.String()) {
		if all || strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") {
			_, _ = io.WriteString(r.out, line)
		}
	}
}

// count sums up. A package that failed without a failed test (it did not compile,
// or its process died) counts as one failure, and so does a command that failed
// without saying anything.
func (r *results) count(exitCode int) counts {
	// A test that has begun and not ended took its process down: show what it said.
	for name := range r.output {
		r.flush(name, true)
	}
	parents, failedWithin := map[testName]bool{}, map[testName]bool{}
	for name, outcome := range r.outcome {
		for within := name; within.test != ""; {
			last := strings.LastIndexByte(within.test, '/')
			within.test = within.test[:max(last, 0)]
			parents[within] = true
			failedWithin[within] = failedWithin[within] || outcome == "fail"
		}
	}
	var c counts
	for name, outcome := range r.outcome {
		switch {
		case outcome == "fail" && !failedWithin[name]:
			c.Failed++
		case parents[name] || name.test == "":
		case outcome == "pass":
			c.Passed++
		case outcome == "skip":
			c.Skipped++
		}
	}
	if exitCode != 0 && c.Failed == 0 {
		c.Failed = 1
	}
	return c
}
