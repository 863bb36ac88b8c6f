package build

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
)

// progress receives the output of `go build -v`: one line with the path of each compiled package, and errors.
type progress struct {
	// packages is the number of packages of the programs; 0 if unknown.
	packages int

	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

// String describes the progress of the build. Packages of earlier builds are not compiled again.
func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	compiled := 0
	for line := range strings.Lines(p.text.String()) {
		if isPackage(line) {
			compiled++
		}
	}
	if p.packages == 0 {
		return fmt.Sprintf("%d packages compiled", compiled)
	}
	return fmt.Sprintf("%d of at most %d packages compiled; earlier builds are reused", compiled, p.packages)
}

// complaints returns the output without the paths of packages.
func (p *progress) complaints() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out strings.Builder
	for line := range strings.Lines(p.text.String()) {
		if !isPackage(line) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// isPackage reports whether a line is the path of a package; errors contain spaces.
func isPackage(line string) bool { return !strings.Contains(strings.TrimSpace(line), " ") }

// countPackages returns the number of packages in a group, or 0.
func (b *Builder) countPackages(ctx context.Context, g *group) int {
	args := append([]string{"go", "list", "-deps"}, g.args...)
	out, err := command(ctx, g.dir, append(args, g.packages()...)...).Output()
	if err != nil {
		return 0 // the build reports the reason
	}
	return bytes.Count(out, []byte("\n"))
}
