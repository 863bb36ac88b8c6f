package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// setupEnvtest downloads the programs, and verifies their digests.
const setupEnvtest = "sigs.k8s.io/controller-runtime/tools/setup-envtest@v0.25.1"

// downloadTimeout limits the download of about 150 MB. Compiling takes longer.
const downloadTimeout = 3 * time.Minute

// download downloads the components of GroupAssets with setupEnvtest, if one of them is not up to date. It returns
// their folder; empty if they must be compiled.
func (b *Builder) download(ctx context.Context, components []Component) string {
	assets := slices.DeleteFunc(slices.Clone(components),
		func(c Component) bool { return !slices.Contains(c.Groups, GroupAssets) })
	apiserver := slices.IndexFunc(assets, func(c Component) bool { return c.Requires == kubernetesModule })
	if jobs, err := b.outdated(assets); !b.Prebuilt || err != nil || len(jobs) == 0 || apiserver < 0 {
		return ""
	}
	version, err := b.version(assets[apiserver])
	if err != nil {
		return ""
	}
	fmt.Fprintf(b.Out, "looking for prebuilt programs of Kubernetes %s\n", version)
	folder, err := b.fetch(ctx, strings.TrimPrefix(version, "v"))
	if err != nil {
		fmt.Fprintf(b.Out, "no prebuilt programs, so they are compiled: %v\n", err)
	}
	return folder
}

// take moves the binary of c from the folder of prebuilt programs, if there is one. It reports whether there was one.
func (b *Builder) take(c Component, prebuilt string) bool {
	if prebuilt == "" || !slices.Contains(c.Groups, GroupAssets) {
		return false
	}
	err := os.Rename(filepath.Join(prebuilt, c.Name), filepath.Join(b.BinDir, c.Name))
	if err != nil {
		fmt.Fprintf(b.Out, "compiling instead: %v\n", err)
	}
	return err == nil
}

// fetch downloads a release of Kubernetes, and returns the folder of its programs.
func (b *Builder) fetch(ctx context.Context, release string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	folder, err := command(ctx, "", "go", "run", setupEnvtest,
		"use", release, "--bin-dir", filepath.Join(b.BinDir, ".envtest"), "--print", "path").Output()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		// `go run` adds the status of the program as the last line.
		text := regexp.MustCompile(`\s*exit status \d+\s*$`).ReplaceAllString(string(exit.Stderr), "")
		err = errors.New(text[strings.LastIndex(text, "\n")+1:])
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(folder)), nil
}
