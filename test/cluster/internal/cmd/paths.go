package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
)

// ownDir finds the folder test/cluster: where the program was compiled from, or above the
// working folder, or above the program's file.
func ownDir() (string, error) {
	starts := []string{}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		starts = append(starts, filepath.Dir(file))
	}
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	if file, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(file))
	}
	for _, start := range starts {
		for dir := start; ; dir = filepath.Dir(dir) {
			for _, candidate := range []string{dir, filepath.Join(dir, "test", "cluster")} {
				if hasVersions(candidate) {
					return candidate, nil
				}
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", errors.New("cannot find the folder test/cluster; run this inside the repository")
}

// hasVersions reports whether a folder has the module that pins the versions.
func hasVersions(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "programs", "go.mod"))
	return err == nil
}

// repository returns the folder of the repository.
func repository() (string, error) {
	dir, err := ownDir()
	if err != nil {
		return "", err
	}
	return filepath.Dir(filepath.Dir(dir)), nil
}

// absolute makes path absolute; an empty one means fallback inside the
// repository.
func absolute(path string, fallback ...string) (string, error) {
	if path == "" {
		root, err := repository()
		if err != nil {
			return "", err
		}
		return filepath.Join(append([]string{root}, fallback...)...), nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	return abs, nil
}

// release is a version of Kubernetes.
var release = regexp.MustCompile(`^v1\.[0-9]+\.[0-9]+$`)

// binDir is the folder of the programs.
func binDir() (string, error) {
	if version := os.Getenv("KUBERNETES"); version != "" {
		if !release.MatchString(version) {
			return "", fmt.Errorf("KUBERNETES=%s: must be a version such as v1.30.14", version)
		}
		return absolute("", "bin", "k8s-"+version)
	}
	return absolute("", "bin", "k8s")
}

// clusterDir is the folder of the cluster.
func clusterDir(flag string) (string, error) { return absolute(flag, ".cluster") }
