package source

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

// asked is a request that one of several sources received.
type asked struct {
	row   int
	path  string
	known original.Validators
}

// fake responds with the status of each path, or with 200 and its own validators. It confirms these validators.
type fake struct {
	row    int
	status map[string]int
	log    *[]asked
}

func (f fake) Open(_ context.Context, r Request) (*Response, error) {
	*f.log = append(*f.log, asked{f.row, r.Path, r.Known})
	if err := problemOfStatus(&http.Response{StatusCode: f.status[r.Path]}); err != nil {
		return nil, err
	}
	if r.Known != (original.Validators{}) {
		return &Response{Unchanged: true, Validators: r.Known}, nil
	}
	return &Response{Validators: original.Validators{ETag: fmt.Sprint("of ", f.row, r.Path)}}, nil
}

var paths = []string{"", "/a", "/a/b", "/ab", "/b"}

// drawTable returns random sources, each with its own responses.
func drawTable(t *rapid.T, log *[]asked, served map[string]float64) table {
	out := table{served: func(name string, n float64) { served[name] += n }}
	taken := map[string]bool{}
	for i := range rapid.IntRange(1, 6).Draw(t, "sources") {
		c := Config{Bucket: fmt.Sprint(i)}
		if i > 0 {
			c.Name = fmt.Sprint("s", i)
			c.Path = rapid.SampledFrom(paths).Draw(t, "path")
			c.StripPath = rapid.Bool().Draw(t, "strip")
			c.Fallback = taken[c.Path] || rapid.Bool().Draw(t, "fallback")
			c.PathPrefix = rapid.SampledFrom([]string{"", "", "/a", "/x"}).Draw(t, "prefix")
		}
		if !c.Fallback {
			taken[c.Path] = true
		}
		status := map[string]int{}
		for _, folder := range append(paths, "/a/a") {
			status[folder+"/x.jpg"] = rapid.SampledFrom([]int{200, 200, 404, 404, 410, 403, 500}).Draw(t, "status")
		}
		out.rows = append(out.rows, row{c, fake{i, status, log}})
	}
	return out
}

// hides reports whether a longer path of another source that is not a fallback takes precedence over a source.
func (t table) hides(r row, path string) bool {
	return slices.ContainsFunc(t.rows, func(other row) bool {
		return !other.Fallback && len(other.Path) > len(r.Path) && strings.HasPrefix(path, other.Path+"/")
	})
}

func TestAnOriginalIsReadFromTheSourceOfItsPathAndThenFromFallbacks(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		var log []asked
		served := map[string]float64{}
		sources := drawTable(t, &log, served)
		path := rapid.SampledFrom(paths).Draw(t, "folder") + "/x.jpg"
		known := original.Validators{}
		if rapid.Bool().Draw(t, "known") {
			// Validators from a time when other sources had the original.
			response, err := sources.rows[rapid.IntRange(0, len(sources.rows)-1).Draw(t, "origin")].open(t.Context(),
				Request{Path: path, Known: known})
			if err == nil {
				known = response.Validators
			}
			log = nil
		}
		response, err := sources.Open(t.Context(), Request{Path: path, Known: known})

		// The expected sources are the source of the path, and all fallbacks that are not hidden.
		var want []row
		for i, r := range sources.rows {
			if (r.Path == "" || strings.HasPrefix(path, r.Path+"/")) && !sources.hides(r, path) && !r.Fallback {
				want = append(want, sources.rows[i])
			}
		}
		if len(want) != 1 {
			t.Fatalf("%d sources have %s", len(want), path)
		}
		for _, r := range sources.rows {
			if r.Fallback && (r.Path == "" || strings.HasPrefix(path, r.Path+"/")) && !sources.hides(r, path) {
				want = append(want, r)
			}
		}
		for _, r := range want {
			inside := path
			if r.StripPath {
				inside = strings.TrimPrefix(path, r.Path)
			}
			if !strings.HasPrefix(inside, r.PathPrefix) {
				continue // has no such image, without a request
			}
			if len(log) == 0 {
				t.Fatalf("%s received no request; the result is %v", r.Name, err)
			}
			got, at := log[0], r.source.(fake)
			log = log[1:]
			if got.row != at.row || got.path != inside {
				t.Fatalf("source %d received a request for %s, want %d and %s", got.row, got.path, at.row, inside)
			}
			if got.known.ETag != "" && got.known.ETag != fmt.Sprint("of ", at.row, inside) || got.known.Source != "" {
				t.Fatalf("source %d was sent %+v", got.row, got.known)
			}
			status := at.status[inside]
			if status == http.StatusNotFound || status == http.StatusGone {
				continue
			}
			if len(log) > 0 {
				t.Fatalf("after status %d, other sources received requests: %v", status, log)
			}
			switch {
			case status == http.StatusOK && (err != nil || !strings.Contains(response.Validators.Source, r.Name+"@")):
				t.Fatalf("%s has the image, but the result is %+v, %v", r.Name, response, err)
			case status != http.StatusOK && (problem.Of(err).Kind != problemOfStatus(&http.Response{StatusCode: status}).Kind ||
				!strings.Contains(err.Error(), r.Name)):
				t.Fatalf("%s responded with %d, but the result is %v", r.Name, status, err)
			case status == http.StatusOK && r.Fallback != (served[r.Name] == 1) || len(served) > 1:
				t.Fatalf("counted %v, want %s", served, r.Name)
			}
			return
		}
		if !problem.Is(err, problem.Missing) || len(log) > 0 || len(served) > 0 {
			t.Fatalf("no source has the image, but the result is %v; also asked: %v; counted %v", err, log, served)
		}
	})
}

func TestSourcesThatContradictEachOtherAreRefused(t *testing.T) {
	folder := Config{Kind: "webfolder", BaseURL: "http://a"}
	named := func(name, path string, fallback bool) Config {
		c := folder
		c.Name, c.Variables, c.Path, c.Fallback = name, "SOURCE_1_", path, fallback
		return c
	}
	const path = "environment variable GATE_SOURCE_1_PATH: source %q has the same path, and neither is a fallback"
	for _, test := range []struct {
		additional []Config
		want       string
	}{
		{[]Config{named("b", "/b", false), named("b", "/c", false)}, "additional source b: the name is used twice"},
		{[]Config{named("b", "/b", false), named("c", "/b", false)}, "additional source c: " + fmt.Sprintf(path, "b")},
		{[]Config{named("b", "", false)}, "additional source b: " + fmt.Sprintf(path, "")},
		{
			[]Config{{Kind: "webfolder", Name: "b", Fallback: true, Variables: "SOURCE_1_"}},
			"additional source b: environment variable SOURCE_1_BASEURL: must be an absolute http or https URL",
		},
		{[]Config{named("b", "/b", false), named("c", "/b", true), named("d", "", true)}, ""},
	} {
		_, err := NewTable(append([]Config{folder}, test.additional...), func(string, float64) {})
		if err == nil != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}
