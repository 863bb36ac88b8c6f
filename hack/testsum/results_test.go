package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestCounts(t *testing.T) {
	for name, c := range map[string]struct {
		why    string
		events []string
		exit   int
		want   counts
	}{
		"tests of two packages": {
			events: []string{
				`{"Action":"pass","Package":"a","Test":"TestX"}`, `{"Action":"pass","Package":"a"}`,
				`{"Action":"pass","Package":"b","Test":"TestX"}`, `{"Action":"pass","Package":"b"}`,
			},
			want: counts{Passed: 2},
		},
		"subtests": {
			why: "their parent is no test of its own",
			events: []string{
				`{"Action":"pass","Package":"a","Test":"TestX/one"}`, `{"Action":"fail","Package":"a","Test":"TestX/two"}`,
				`{"Action":"skip","Package":"a","Test":"TestX/three"}`,
				`{"Action":"fail","Package":"a","Test":"TestX"}`, `{"Action":"fail","Package":"a"}`,
			},
			exit: 1, want: counts{Passed: 1, Failed: 1, Skipped: 1},
		},
		"a parent that fails by itself": {
			events: []string{
				`{"Action":"pass","Package":"a","Test":"TestX/one"}`,
				`{"Action":"fail","Package":"a","Test":"TestX"}`, `{"Action":"fail","Package":"a"}`,
			},
			exit: 1, want: counts{Passed: 1, Failed: 1},
		},
		"a package that does not compile": {
			events: []string{`{"ImportPath":"a","Action":"build-fail"}`, `{"Action":"fail","Package":"a","FailedBuild":"a"}`},
			exit:   1, want: counts{Failed: 1},
		},
		"a package without tests":                {events: []string{`{"Action":"skip","Package":"a"}`}},
		"a command that dies and says nothing":   {exit: 1, want: counts{Failed: 1}},
		"a line that is no event is passed over": {events: []string{"no JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			results := newResults(&strings.Builder{}, false)
			for _, line := range c.events {
				results.add([]byte(line + "\n"))
			}
			if got := results.count(c.exit); got != c.want {
				t.Errorf("got %+v, want %+v. %s", got, c.want, c.why)
			}
		})
	}
}

func TestOnlyFailedTestsAreShown(t *testing.T) {
	var out strings.Builder
	results := newResults(&out, false)
	for _, line := range []string{
		`{"Action":"output","Package":"a","Test":"TestGood","Output":"good\n"}`,
		`{"Action":"output","Package":"a","Test":"TestBad","Output":"bad\n"}`,
		`{"Action":"pass","Package":"a","Test":"TestGood"}`,
		`{"Action":"fail","Package":"a","Test":"TestBad"}`,
		`{"Action":"output","Package":"a","Test":"TestPanics","Output":"panic\n"}`,
		`{"Action":"output","Package":"a","Output":"FAIL\ta\n"}`,
		`{"Action":"fail","Package":"a"}`,
		`{"Action":"output","Package":"b","Output":"-test.shuffle 1\n"}`,
		`{"Action":"output","Package":"b","Output":"PASS\n"}`,
		`{"Action":"output","Package":"b","Output":"ok  \tb\t0.1s\n"}`,
		`{"Action":"pass","Package":"b"}`,
	} {
		results.add([]byte(line + "\n"))
	}
	results.count(1)
	if got, want := out.String(), "bad\nFAIL\ta\nok  \tb\t0.1s\npanic\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestATallyAddsUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tally")
	for _, c := range []counts{{Passed: 1, Failed: 2}, {Passed: 10, Skipped: 3}} {
		if err := addTally(path, c); err != nil {
			t.Fatal(err)
		}
	}
	total, err := readTally(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := (counts{Passed: 11, Failed: 2, Skipped: 3}); total != want {
		t.Errorf("got %+v, want %+v", total, want)
	}
}
