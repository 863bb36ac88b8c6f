package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Builder builds components into a folder.
type Builder struct {
	// OwnDir is the folder of this tool.
	OwnDir string
	// ModulesDir is the folder that holds the modules pinning the versions.
	ModulesDir string
	// BinDir receives the binaries and a .stamps folder.
	BinDir string
	// Kubernetes is the version of the components of Kubernetes, such as v1.30.14. Empty
	// means the one that the modules pin.
	Kubernetes string
	// Out receives the progress.
	Out io.Writer
	// SetupEnvtest is the command line of setup-envtest, which downloads the components of
	// GroupAssets. Empty means that they are always compiled.
	SetupEnvtest []string

	goVersion string
}

// Build builds those components that are not up to date. Another process
// building into the same folder is waited for.
func (b *Builder) Build(ctx context.Context, components []Component) error {
	goVersion, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("run go (is it installed and in PATH?): %w", err)
	}
	b.goVersion = strings.TrimSpace(string(goVersion))

	// Usually there is nothing to do; then nothing need be writable either.
	if pending, err := b.pending(components); err != nil || !pending {
		return err
	}
	if err := os.MkdirAll(filepath.Join(b.BinDir, ".stamps"), 0o755); err != nil {
		return fmt.Errorf("make the folder for binaries: %w", err)
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()

	started, built := time.Now(), 0
	prebuilt := b.download(ctx, components)
	for i, c := range components {
		did, err := b.one(ctx, c, prebuilt, i+1, len(components))
		if err != nil {
			return err
		}
		if did {
			built++
		}
	}
	if built > 0 {
		fmt.Fprintf(b.Out, "built %d of %d into %s in %s\n", built, len(components), b.BinDir, time.Since(started).Round(time.Second))
	}
	return nil
}

// pending reports whether one of the components is not up to date.
func (b *Builder) pending(components []Component) (bool, error) {
	for _, c := range components {
		if _, _, ok, err := b.check(c); err != nil || !ok {
			return true, err
		}
	}
	return false, nil
}

// check returns the version and the stamp that the binary of c should have,
// and whether it has it.
func (b *Builder) check(c Component) (version, stamp string, ok bool, err error) {
	if version, err = b.version(c); err != nil {
		return "", "", false, err
	}
	if stamp, err = b.stamp(c, version); err != nil {
		return "", "", false, err
	}
	ok, err = b.upToDate(c, stamp)
	return version, stamp, ok, err
}

// one builds c unless it is up to date, or takes it from the folder of prebuilt programs; it
// reports whether it had to.
func (b *Builder) one(ctx context.Context, c Component, prebuilt string, i, n int) (bool, error) {
	version, stamp, ok, err := b.check(c)
	if err != nil || ok {
		return false, err
	}
	p := newProgress(b.Out, i, n, c.Name, version)
	if !b.take(c, prebuilt) {
		p.say("building; the first time takes minutes")
		if err := b.compile(ctx, c, version, p); err != nil {
			return false, fmt.Errorf("build %s %s: %w", c.Name, version, err)
		}
	}
	if c.Name == "kwok" {
		if err := b.copyStages(ctx, c); err != nil {
			return false, fmt.Errorf("copy kwok's stages: %w", err)
		}
	}
	if err := os.WriteFile(b.stampPath(c), []byte(stamp), 0o644); err != nil {
		return false, fmt.Errorf("write the stamp of %s: %w", c.Name, err)
	}
	p.say("done in %s", p.elapsed())
	return true, nil
}

func (b *Builder) compile(ctx context.Context, c Component, version string, p *progress) error {
	target := filepath.Join(b.BinDir, c.Name)
	temporary := target + ".new"
	defer os.Remove(temporary)

	args := append([]string{"go", "build", "-v", "-o", temporary}, buildArgs(c, version)...)
	dir, err := b.sourceDir(ctx, c, version)
	if err != nil {
		return err
	}
	if b.isOther(c) {
		// Its go.mod is incomplete.
		args = append(args, "-mod=mod")
	}
	cmd := command(ctx, dir, append(args, c.Package)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	log, done := &compileLog{}, make(chan struct{})
	go p.beat(log, done)
	log.read(stderr)
	err = cmd.Wait()
	close(done)
	if err != nil {
		return errors.Join(err, errors.New(log.complaint()))
	}
	// A rename, because a running program's file cannot be written over.
	return os.Rename(temporary, target)
}

// command is a command of Go in a folder, with an environment in which nothing of the
// caller's changes what comes out. With GOGC=400 the compiler takes an eighth less time and
// half as much memory again.
func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOGC=400")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// sourceDir is the folder in which c is built.
func (b *Builder) sourceDir(ctx context.Context, c Component, version string) (string, error) {
	if !c.InDownload && !b.isOther(c) {
		return b.moduleDir(c), nil
	}
	// Run beside the go.sum that has the checksum of the download.
	answer, err := command(ctx, b.moduleDir(c), "go", "mod", "download", "-json", c.Requires+"@"+version).Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(answer, &found); err != nil || jsonErr != nil || found.Error != "" {
		return "", fmt.Errorf("download %s@%s: %w", c.Requires, version, errors.Join(err, jsonErr, errors.New(found.Error)))
	}
	if b.isOther(c) {
		return b.writeModule(found.Dir, version)
	}
	return found.Dir, nil
}

func (b *Builder) moduleDir(c Component) string {
	if c.Module == "" {
		return b.OwnDir
	}
	return filepath.Join(b.ModulesDir, c.Module)
}

// buildArgs are the arguments of `go build` that decide what comes out.
func buildArgs(c Component, version string) []string {
	ldflags := []string{"-s", "-w"}
	if c.VersionVars != nil {
		vars := c.VersionVars(version)
		names := make([]string, 0, len(vars))
		for name := range vars {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			ldflags = append(ldflags, "-X", name+"="+vars[name])
		}
	}
	args := []string{"-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", strings.Join(ldflags, " ")}
	if c.Tags != "" {
		args = append(args, "-tags", c.Tags)
	}
	return args
}
