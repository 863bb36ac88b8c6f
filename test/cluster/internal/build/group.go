package build

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// group is a set of components that one `go build` compiles. With several commands, each would wait for the
// single-threaded linker of the previous one.
type group struct {
	dir  string
	args []string
	jobs []job
}

// String returns the names of the components with their versions.
func (g *group) String() string {
	names := make([]string, len(g.jobs))
	for i, j := range g.jobs {
		names[i] = j.Name + " " + j.version
	}
	return strings.Join(names, ", ")
}

func (g *group) packages() []string {
	packages := make([]string, len(g.jobs))
	for i, j := range g.jobs {
		packages[i] = j.Package
	}
	return packages
}

// group groups jobs that are built in the same folder with the same arguments.
func (b *Builder) group(ctx context.Context, jobs []job) ([]*group, error) {
	var groups []*group
	for _, j := range jobs {
		dir, err := b.sourceDir(ctx, j.Component, j.version)
		if err != nil {
			return nil, fmt.Errorf("build %s %s: %w", j.Name, j.version, err)
		}
		args := commonArgs(j.Component)
		if b.isOther(j.Component) {
			// The go.mod is incomplete.
			args = append(args, "-mod=mod")
		}
		known := slices.IndexFunc(groups, func(g *group) bool { return g.dir == dir && slices.Equal(g.args, args) })
		if known < 0 {
			known = len(groups)
			groups = append(groups, &group{dir: dir, args: args})
		}
		groups[known].jobs = append(groups[known].jobs, j)
	}
	return groups, nil
}

// heartbeat is the longest time without output: a longer silence looks like a hang.
const heartbeat = 15 * time.Second

// compile builds the components of a group.
func (b *Builder) compile(ctx context.Context, g *group) error {
	folder, err := os.MkdirTemp(b.BinDir, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	args := slices.Concat([]string{"go", "build", "-v", "-o", folder + string(filepath.Separator)}, g.args)
	for _, j := range g.jobs {
		args = append(args, "-ldflags", j.Package+"="+linkerArgs(j.Component, j.version))
	}
	compiler := &progress{packages: b.countPackages(ctx, g)}
	building, built := context.WithCancel(ctx)
	started := time.Now()
	go wait.UntilWithContext(building, func(context.Context) {
		b.say("%5s  building %s: %s", time.Since(started).Round(time.Second), g, compiler)
	}, heartbeat)
	run := command(ctx, g.dir, append(args, g.packages()...)...)
	run.Stdout, run.Stderr = compiler, compiler
	err = run.Run()
	built()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, compiler.complaints())
	}
	for _, j := range g.jobs {
		// The binary is renamed into place, because the file of a running program cannot be overwritten.
		if err := os.Rename(filepath.Join(folder, cmp.Or(j.Binary, j.Name)), filepath.Join(b.BinDir, j.Name)); err != nil {
			return err
		}
		if err := b.finish(ctx, j); err != nil {
			return err
		}
	}
	return nil
}
