package main

import (
	"os"
	"path/filepath"
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
