package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReportsAreSummed(t *testing.T) {
	const passed = `<testcase name="TestA"></testcase>`
	for name, c := range map[string]struct {
		reports []string
		want    string
	}{
		"no report":    {nil, "0 passed, 0 failed"},
		"two reports":  {[]string{passed, passed + passed}, "3 passed, 0 failed"},
		"skipped test": {[]string{passed + `<testcase><skipped message="no root"/></testcase>`}, "1 passed, 0 failed, 1 skipped"},
		"failed test": {
			[]string{`<testcase><failure>one</failure><failure>two</failure></testcase>` + passed},
			"1 passed, 1 failed",
		},
		"error of a test file":      {[]string{`<testcase><error message="cannot be imported"/></testcase>`}, "0 passed, 1 failed"},
		"markup in a test's output": {[]string{`<testcase><system-out>&lt;failure></system-out></testcase>`}, "1 passed, 0 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			for i, report := range c.reports {
				write(t, directory, i, "<testsuites><testsuite>"+report+"</testsuite></testsuites>\n")
			}
			check(t, directory, c.want)
		})
	}
}

func TestAnIncompleteReportIsAFailure(t *testing.T) {
	for name, report := range map[string]string{
		"empty":   "",
		"cut off": "<testsuites><testsuite><testcase></testcase>",
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			write(t, directory, 0, report)
			want := "0 passed, 1 failed"
			if report != "" {
				want = "1 passed, 1 failed"
			}
			check(t, directory, want)
		})
	}
}

func TestATestAloneIsAReport(t *testing.T) {
	directory := t.TempDir()
	write(t, directory, 0, `<testcase name="lint"><failure>see above</failure></testcase>`)
	check(t, directory, "0 passed, 1 failed")
}

func TestAFailureIsShownWithTheEndOfItsOutput(t *testing.T) {
	directory := t.TempDir()
	write(t, directory, 0, `<testsuites><testcase classname="test/chaos" name="TestA"><failure message="Failed">`+
		strings.Repeat("earlier\n", 100)+"a_test.go:1: why\n</failure></testcase></testsuites>")
	total, err := sum(directory)
	if err != nil || len(total.failures) != 1 {
		t.Fatalf("%+v, %v", total, err)
	}
	shown := strings.Split(total.failures[0], "\n")
	if shown[0] != "FAILED test/chaos TestA" || shown[len(shown)-1] != "    a_test.go:1: why" || len(shown) != shownLines+1 {
		t.Errorf("it is shown as:\n%s", total.failures[0])
	}
}

func write(t *testing.T, directory string, number int, report string) {
	t.Helper()
	path := filepath.Join(directory, string(rune('a'+number))+".xml")
	if err := os.WriteFile(path, []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, directory, want string) {
	t.Helper()
	total, err := sum(directory)
	if err != nil {
		t.Fatal(err)
	}
	if got := total.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
