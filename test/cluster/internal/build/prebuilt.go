package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// downloadTimeout limits the download of about 150 MB. Compiling takes longer.
const downloadTimeout = 3 * time.Minute

// download gets those components of GroupAssets that are not up to date by setup-envtest,
// which checks their digests. The others are compiled.
func (b *Builder) download(ctx context.Context, components []Component) {
	var wanted []Component
	stamps, release := map[string]string{}, ""
	for _, c := range components {
		version, stamp, upToDate, err := b.check(c)
		if err == nil && !upToDate && slices.Contains(c.Groups, GroupAssets) {
			wanted = append(wanted, c)
			stamps[c.Name] = stamp
		}
		if c.Requires == kubernetesModule {
			release = strings.TrimPrefix(version, "v")
		}
	}
	if len(b.SetupEnvtest) == 0 || len(wanted) == 0 || release == "" {
		return
	}
	fmt.Fprintf(b.Out, "looking for prebuilt programs of Kubernetes %s\n", release)
	folder, err := b.setupEnvtest(ctx, release)
	for i := 0; err == nil && i < len(wanted); i++ {
		name := wanted[i].Name
		if err = os.Rename(filepath.Join(folder, name), filepath.Join(b.BinDir, name)); err == nil {
			err = os.WriteFile(b.stampPath(wanted[i]), []byte(stamps[name]), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintf(b.Out, "compiling instead: %v\n", err)
	}
}

// setupEnvtest downloads a release of Kubernetes, and returns the folder of its programs.
func (b *Builder) setupEnvtest(ctx context.Context, release string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	args := slices.Concat(b.SetupEnvtest[1:], []string{"use", release, "--bin-dir", filepath.Join(b.BinDir, ".envtest"), "--print", "path"})
	command := exec.CommandContext(ctx, b.SetupEnvtest[0], args...)
	command.Env = buildEnv()
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 5 * time.Second
	folder, err := command.Output()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		return "", fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return strings.TrimSpace(string(folder)), err
}
