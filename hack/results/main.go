// Command results sums the JUnit reports in a directory, as gotestsum and vitest write
// them. It prints the tests that failed, each with the end of what it printed, and in the
// last line the number of tests: "12 passed, 0 failed, 1 skipped".
//
// A test with subtests is counted besides them. A report that is empty or cut off counts
// as a failure: the program that should have written it died.
package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shownLines is the number of lines that are shown of what a failed test printed.
const shownLines = 25

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: results DIRECTORY")
		os.Exit(2)
	}
	total, err := sum(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
	for _, failure := range total.failures {
		fmt.Println(failure)
	}
	fmt.Println(total)
}

// counts are numbers of test cases, and what is shown of those that failed.
type counts struct {
	passed, failed, skipped int
	failures                []string
}

func (c counts) String() string {
	text := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return text
}

// testcase is a test in a report.
type testcase struct {
	Class    string    `xml:"classname,attr"`
	Name     string    `xml:"name,attr"`
	Failures []problem `xml:"failure"`
	Errors   []problem `xml:"error"`
	Skipped  *struct{} `xml:"skipped"`
}

// problem is why a test failed.
type problem struct {
	Message string `xml:"message,attr"`
	Output  string `xml:",chardata"`
}

// add counts a test.
func (c *counts) add(test testcase) {
	problems := slices.Concat(test.Failures, test.Errors)
	switch {
	case len(problems) > 0:
		c.failed++
		text := []string{strings.TrimSpace("FAILED " + strings.TrimSpace(test.Class+" "+test.Name))}
		for _, problem := range problems {
			lines := strings.Split(strings.TrimSpace(problem.Message+"\n"+problem.Output), "\n")
			text = append(text, lines[max(0, len(lines)-shownLines):]...)
		}
		c.failures = append(c.failures, strings.Join(text, "\n    "))
	case test.Skipped != nil:
		c.skipped++
	default:
		c.passed++
	}
}

// sum adds up all reports (*.xml) in a directory.
func sum(directory string) (total counts, err error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*.xml"))
	if err != nil {
		return total, err
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return total, fmt.Errorf("read report: %w", err)
		}
		if err := total.read(file); err != nil {
			fmt.Fprintf(os.Stderr, "results: %s: %v\n", path, err)
			total.failed++
		}
		file.Close()
	}
	return total, nil
}

// read counts the tests of one report. It returns an error if the report is incomplete.
func (c *counts) read(report io.Reader) error {
	decoder := xml.NewDecoder(report)
	complete := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && complete {
			return nil
		}
		if err != nil {
			return fmt.Errorf("incomplete report: %w", err)
		}
		switch element := token.(type) {
		case xml.StartElement:
			if element.Name.Local != "testcase" {
				continue
			}
			var test testcase
			if err := decoder.DecodeElement(&test, &element); err != nil {
				return fmt.Errorf("incomplete report: %w", err)
			}
			c.add(test)
			complete = true
		case xml.EndElement:
			complete = true
		}
	}
}
