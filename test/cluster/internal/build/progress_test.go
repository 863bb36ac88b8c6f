package build

import (
	"io"
	"testing"
)

func TestProgressCountsPackagesAndKeepsErrors(t *testing.T) {
	p := &progress{packages: 12}
	for _, text := range []string{"errors\nk8s.io/api", "/core/v1\n# example.com/a\na.go:3:2: undefined: b\n"} {
		_, _ = io.WriteString(p, text)
	}
	if got, want := p.String(), "2 of at most 12 packages compiled; earlier builds are reused"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.complaints(), "# example.com/a\na.go:3:2: undefined: b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
