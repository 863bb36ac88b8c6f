package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// table chooses sources by the path of an image.
type table struct {
	rows []row
	// served counts the originals that a fallback served.
	served func(name string, originals float64)
}

type row struct {
	Config
	source Source
}

// NewTable returns a source that reads each original from one of several sources: from the source with the longest
// matching path, or, if that source does not have the original, from the fallbacks in their order. The first source
// matches all paths. Fallbacks are not used for originals with a longer path than their own. Served counts the
// originals of fallbacks.
func NewTable(configs []Config, served func(name string, originals float64)) (Source, error) {
	t := table{served: served}
	var errs []error
	names, paths := map[string]bool{}, map[string]string{}
	for _, c := range configs {
		s, err := New(c)
		switch other, taken := paths[c.Path]; {
		case err != nil:
		case names[c.Name]:
			err = errors.New("the name is used twice")
		case !c.Fallback && taken:
			err = fmt.Errorf("environment variable GATE_%sPATH: source %q has the same path, and neither is a fallback",
				c.Variables, other)
		}
		if err != nil && c.Name != "" {
			err = fmt.Errorf("additional source %s: %w", c.Name, err)
		}
		errs = append(errs, err)
		if names[c.Name] = true; c.Fallback {
			served(c.Name, 0)
		} else {
			paths[c.Path] = c.Name
		}
		t.rows = append(t.rows, row{c, s})
	}
	return t, errors.Join(errs...)
}

func (t table) Open(ctx context.Context, asked Request) (*Response, error) {
	var missing error
	for _, r := range t.candidates(asked.Path) {
		response, err := r.open(ctx, asked)
		if err == nil && r.Fallback {
			t.served(r.Name, 1)
		}
		if !problem.Is(err, problem.Missing) {
			return response, err
		}
		missing = cmp.Or(missing, err)
	}
	return nil, missing
}

// candidates returns the sources that may have an original, in the order of requests.
func (t table) candidates(path string) []row {
	found := t.rows[:1:1]
	for _, r := range t.rows[1:] {
		if !r.Fallback && r.contains(path) && len(r.Path) > len(found[0].Path) {
			found = []row{r}
		}
	}
	for _, r := range t.rows[1:] {
		if r.Fallback && r.contains(path) && len(r.Path) >= len(found[0].Path) {
			found = append(found, r)
		}
	}
	return found
}

func (r row) contains(path string) bool { return r.Path == "" || strings.HasPrefix(path, r.Path+"/") }

// open requests an original from a source, and sends validators only if they come from that source.
func (r row) open(ctx context.Context, asked Request) (*Response, error) {
	if r.StripPath {
		asked.Path = strings.TrimPrefix(asked.Path, r.Path)
	}
	if !strings.HasPrefix(asked.Path, r.PathPrefix) {
		return nil, problem.New(problem.Missing, "no image has this path")
	}
	id := r.Name + "@" + GateOf([]Config{r.Config})
	if asked.Known.Source != id {
		asked.Known = original.Validators{}
	}
	asked.Known.Source = ""
	response, err := r.source.Open(ctx, asked)
	if err != nil {
		return nil, r.named(err)
	}
	response.Validators.Source = id
	return response, nil
}

// named adds the name of an additional source to a problem.
func (r row) named(err error) error {
	var p *problem.Problem
	if r.Name == "" || !errors.As(err, &p) {
		return err
	}
	named := *p
	named.Detail = fmt.Sprintf("additional source %s: %s", r.Name, p.Detail)
	return &named
}
