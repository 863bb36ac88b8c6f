// Command results sums the JUnit reports in a directory, as gotestsum and vitest write
// them, and prints the number of tests: "12 passed, 0 failed, 1 skipped".
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
)

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
	fmt.Println(total)
}

// counts are numbers of test cases.
type counts struct{ passed, failed, skipped int }

func (c counts) String() string {
	text := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return text
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
		if err := total.add(file); err != nil {
			fmt.Fprintf(os.Stderr, "results: %s: %v\n", path, err)
			total.failed++
		}
		file.Close()
	}
	return total, nil
}

// add counts the test cases of one report. It returns an error if the report is incomplete.
func (c *counts) add(report io.Reader) error {
	decoder := xml.NewDecoder(report)
	outcome, complete := &c.passed, false
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
			switch element.Name.Local {
			case "testcase":
				outcome = &c.passed
			case "failure", "error":
				outcome = &c.failed
			case "skipped":
				outcome = &c.skipped
			}
		case xml.EndElement:
			complete = true
			if element.Name.Local == "testcase" {
				*outcome++
			}
		}
	}
}
